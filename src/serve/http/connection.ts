import { Buffer } from "node:buffer";
import { text } from "../answers.ts";
import type { Answer, Answerer } from "../handler.ts";
import type { Access } from "../options.ts";
import { splitUrl } from "../paths.ts";
import { ServeError } from "../serve_error.ts";
import type { AnswerBuffers } from "./answer_buffer.ts";
import { type Body, sendBody, type Wire } from "./answer_body.ts";
import { answerHead } from "./answer_head.ts";
import { RequestHead } from "./request_head.ts";

/** Bytes that are read at a time, unless the head of a request is longer. */
const READ = 8 << 10;
/** Longest head of a request: one with 1,000 ranges is told that it has too many. */
const LONGEST_HEAD = 256 << 10;
/** Bytes of a body that nobody asked for that are read before the connection ends, so that the client reads the answer. */
const MOST_DRAINED = 1 << 20;
const CR = 0x0d;
const LF = 0x0a;
const CONTINUE = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");

/** What a connection is about, by which it is told how long that may take. */
export type Doing = "waiting" | "asking" | "answering" | "sending" | "ending";

/** What connections of a server have in common. */
export interface ConnectionContext {
  readonly answerer: Answerer;
  readonly buffers: AnswerBuffers;
  /** By which a client that names no host has called the server. */
  readonly ownAuthority: string;
  /** Told of each request that was answered. */
  readonly onAccess: ((access: Access) => void) | undefined;
  /** Of what should not be. */
  readonly onError: (error: unknown) => void;
}

/**
 * A connection of HTTP/1.1 (RFC 9112): its requests one after the other, and their answers. A server of its own, beside
 * that of Deno, since a small file takes a third of the time: its head and its content lie in one piece, are sent at
 * once, and no `Request`, `Response` or header is made for them.
 */
export class Connection implements Wire {
  readonly #conn: Deno.Conn;
  readonly #context: ConnectionContext;
  /** What was read; from {@linkcode Connection.#start} to {@linkcode Connection.#end} nobody has looked at. */
  #bytes = Buffer.alloc(READ);
  #start = 0;
  #end = 0;
  /** How many of these have no end of a head. */
  #scanned = 0;
  /** What is being read, to be put behind it. */
  #reading: Promise<boolean> | undefined;
  /** Bytes of the body that were not read yet; of one in chunks, as many as there may be. */
  #left = 0;
  #isLast = false;
  #isClosed = false;
  #doing: Doing = "waiting";
  /** Whether it turned to something else, or some of an answer was taken, since somebody looked. */
  hasMoved = true;

  constructor(conn: Deno.Conn, context: ConnectionContext) {
    this.#conn = conn;
    this.#context = context;
  }

  /** What it is about. */
  get doing(): Doing {
    return this.#doing;
  }

  /** Answers until the client or the server ends it. Never throws. */
  async run(): Promise<void> {
    try {
      while (!this.#isLast && await this.#next());
      if (this.#left > 0) await this.#drain();
    } catch (error) {
      if (!isOfConnections(error)) this.#context.onError(error);
    } finally {
      this.close();
    }
  }

  /** Ends it behind the answer that is under way; at once where there is none. */
  end(): void {
    this.#isLast = true;
    if (this.#doing === "waiting") this.close();
  }

  /** Ends it at once. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#conn.close();
  }

  async send(bytes: Uint8Array): Promise<void> {
    const before = this.#doing;
    this.#begin("sending");
    for (let rest = bytes; rest.length > 0;) {
      const sent = await this.#conn.write(rest);
      this.hasMoved = true;
      if (sent === rest.length) break;
      rest = rest.subarray(sent);
    }
    this.#begin(before);
  }

  /** Calls a function if the client leaves before it has asked for more. */
  whenGone(call: () => void): void {
    if (this.#end === this.#bytes.length) return; // it has asked for more
    this.#reading ??= this.#read();
    this.#reading.then((isThere) => isThere || call(), call);
  }

  /** Calls a function if the connection is reset meanwhile: who only ends what it sends may still wait for the answer. */
  #whenReset(call: () => void): void {
    if (this.#left > 0 || this.#end === this.#bytes.length) return; // it is read anyway
    this.#reading ??= this.#read();
    this.#reading.catch(call);
  }

  /** Answers the next request; tells whether there was one. */
  async #next(): Promise<boolean> {
    const end = this.#endOfHead();
    if (end === undefined) {
      if (this.#end - this.#start > LONGEST_HEAD) {
        await this.#refuse(
          new ServeError(
            "head-too-large",
            "The head of the request is too large",
          ),
        );
        return false;
      }
      this.#begin(this.#start === this.#end ? "waiting" : "asking");
      return await this.#fill();
    }
    const since = this.#context.onAccess && performance.now();
    this.#begin("answering");
    const head = this.#takeHead(end);
    if (head instanceof ServeError) {
      await this.#refuse(head);
      return false;
    }
    const { answerer, buffers } = this.#context;
    const isPlain = head.isCurrent && this.#left === 0 && !this.#isLast;
    const buffer = isPlain ? buffers.take() : undefined;
    const answer = answerer.handle(head, buffer);
    if (answer === undefined) {
      this.#note(head, 200, since);
      await this.send(buffer!.bytes);
    }
    if (buffer !== undefined) buffers.give(buffer);
    if (answer !== undefined) await this.#answer(head, answer, since);
    return true;
  }

  #begin(doing: Doing): void {
    if (this.#doing === doing) return; // which it may be for so long
    this.#doing = doing;
    this.hasMoved = true;
  }

  /** Where the next request's head ends, if it is there: behind an empty line. */
  #endOfHead(): number | undefined {
    const bytes = this.#bytes;
    const start = this.#start + Math.max(3, this.#scanned);
    for (let i = start; i < this.#end; i++) {
      const isEnd = bytes[i] === LF && bytes[i - 1] === CR &&
        bytes[i - 2] === LF && bytes[i - 3] === CR;
      if (!isEnd) continue;
      this.#scanned = 0;
      return i + 1;
    }
    this.#scanned = this.#end - this.#start;
    return undefined;
  }

  #takeHead(end: number): RequestHead | ServeError {
    let start = this.#start;
    // Behind a body, some clients send an empty line (RFC 9112, 2.2).
    while (this.#bytes[start] === CR && this.#bytes[start + 1] === LF) {
      start += 2;
    }
    this.#start = Math.max(start, end);
    try {
      const text = this.#bytes.toString("latin1", start, end);
      const head = new RequestHead(text, this.#context.ownAuthority);
      this.#left = head.bodyLength === "chunked" ? Infinity : head.bodyLength;
      if (this.#left > 0) head.body = this.#body(head);
      if (!head.keepsAlive) this.#isLast = true;
      return head;
    } catch (error) {
      if (error instanceof ServeError) return error;
      throw error;
    }
  }

  async #answer(
    head: RequestHead,
    answer: Answer,
    since: number | undefined,
  ): Promise<void> {
    if (answer instanceof Promise) this.#whenReset(() => head.leave());
    const response = await answer;
    this.#begin("answering");
    if (this.#left > 0) this.#isLast = true;
    this.#note(head, response.status, since);
    await this.#send(head, response);
  }

  /** Tells what is wrong with what came, and that nothing else is listened to. */
  async #refuse({ code, message, status }: ServeError): Promise<void> {
    this.#isLast = true;
    this.#left = Infinity; // whatever follows
    const response = text(`${code}: ${message}`, status);
    await this.#send({ method: "GET", isCurrent: true }, response);
  }

  async #send(
    { method, isCurrent }: Pick<RequestHead, "method" | "isCurrent">,
    response: Response,
  ): Promise<void> {
    const body = bodyOf(response, method, isCurrent);
    if (body.kind === "to-the-end") this.#isLast = true;
    const headers = [...response.headers];
    if (body.kind === "chunks") headers.push(["transfer-encoding", "chunked"]);
    if (body.kind === "nothing" && body.saysLength) {
      headers.push(["content-length", "0"]);
    }
    if (this.#isLast) headers.push(["connection", "close"]);
    else if (!isCurrent) headers.push(["connection", "keep-alive"]);
    const head = Buffer.from(answerHead(response.status, headers), "latin1");
    if (!await sendBody(this, head, body)) this.#isLast = true;
  }

  #note(
    request: RequestHead,
    status: number,
    since: number | undefined,
  ): void {
    if (since === undefined) return;
    this.#context.onAccess!({
      client: (this.#conn.remoteAddr as Deno.NetAddr).hostname,
      method: request.method,
      path: splitUrl(request.url).path,
      status,
      duration: performance.now() - since,
    });
  }

  /** The body of a request, as far as somebody wants it. */
  async *#body(
    { bodyLength, expectsContinue }: RequestHead,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (bodyLength === "chunked") {
      throw new ServeError(
        "no-length",
        "The server takes bodies only with their Content-Length",
      );
    }
    if (expectsContinue) await this.send(CONTINUE);
    this.#begin("asking");
    while (this.#left > 0) {
      if (this.#start === this.#end && !await this.#fill()) {
        throw new Deno.errors.UnexpectedEof();
      }
      const end = Math.min(this.#end, this.#start + this.#left);
      const piece = new Uint8Array(this.#bytes.subarray(this.#start, end)); // a copy
      this.#left -= piece.length;
      this.#start = end;
      if (this.#left === 0) this.#begin("answering");
      yield piece;
    }
  }

  /** Lets a client that is still sending read its answer: what comes for a closed connection takes the answer from it. */
  async #drain(): Promise<void> {
    this.#begin("ending");
    await this.#conn.closeWrite();
    const most = Math.min(this.#left, MOST_DRAINED);
    for (let drained = this.#end - this.#start; drained < most;) {
      this.#start = this.#end;
      if (!await this.#fill()) return;
      drained += this.#end - this.#start;
    }
  }

  /** Waits for more bytes; tells whether some came. */
  async #fill(): Promise<boolean> {
    return await (this.#reading ??= this.#read());
  }

  async #read(): Promise<boolean> {
    if (this.#start === this.#end) {
      this.#start = this.#end = 0;
      if (this.#bytes.length > READ) this.#bytes = Buffer.alloc(READ);
    } else if (this.#end === this.#bytes.length) {
      const isFull = this.#end - this.#start > this.#bytes.length / 2;
      const larger = isFull
        ? Buffer.alloc(this.#bytes.length * 2)
        : this.#bytes;
      this.#bytes.copy(larger, 0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
      this.#bytes = larger;
    }
    try {
      const got = await this.#conn.read(this.#bytes.subarray(this.#end));
      this.#end += got ?? 0;
      return got !== null;
    } finally {
      this.#reading = undefined;
    }
  }
}

/** What an answer has behind its head, and how its end is told (RFC 9112, 6.3). */
function bodyOf(
  { body, headers, status }: Response,
  method: string,
  isCurrent: boolean,
): Body {
  const isNever = status === 204 || status === 304;
  if (method === "HEAD" || isNever || body === null) {
    const saysLength = body === null && !isNever &&
      !headers.has("content-length");
    return { kind: "nothing", stream: body, saysLength };
  }
  const length = headers.get("content-length");
  if (length !== null) {
    return { kind: "bytes", stream: body, length: Number(length) };
  }
  return { kind: isCurrent ? "chunks" : "to-the-end", stream: body };
}

/** Whether an error is one of those that clients and networks cause. */
function isOfConnections(error: unknown): boolean {
  const { errors } = Deno;
  return [
    errors.BadResource,
    errors.BrokenPipe,
    errors.ConnectionAborted,
    errors.ConnectionReset,
    errors.Interrupted,
    errors.NotConnected,
    errors.TimedOut,
    errors.UnexpectedEof,
  ].some((kind) => error instanceof kind);
}
