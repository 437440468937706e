import type { AnswerRoom } from "../answer_room.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";

/** The start of a server's own URLs. */
export interface Origin {
  readonly scheme: "http" | "https";
  readonly authority: string;
}

/** How the body of a request ends: behind so many bytes, or in chunks. */
export type BodyLength = number | "chunked";

/** Tokens of RFC 9110, 5.6.2. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9112, 3. */
const REQUEST_LINE = new RegExp(
  `(${TOKEN}) ([\\x21-\\x7e\\x80-\\xff]+) HTTP/([0-9])\\.([0-9])\\r\\n`,
  "y",
);
/** A header's name (RFC 9112, 5): nothing stands between it and the colon. */
const NAME = new RegExp(`${TOKEN}:`, "y");
/** A header's value, and the end of its line: none goes on in the next. */
const VALUE = /[\t\x20-\x7e\x80-\xff]*\r\n/y;
/** An authority, as URLs have it: {@linkcode RequestHead.url} is put together with it. */
const HOST = /^[^\s/?#@\\]*$/;
/** Longest body that has a length, in digits. */
const LENGTH = /^[0-9]{1,15}$/;

/**
 * The head of a request of HTTP/1.1 or 1.0, as RFC 9112 has it and in no other form: what could be read in two ways is
 * refused. The same for all who ask, it is as quick as may be.
 */
export class RequestHead implements RequestLike {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Whether it is of HTTP/1.1: a client of HTTP/1.0 knows no chunks. */
  readonly isCurrent: boolean;
  /** Whether the connection may be used for another request. */
  readonly keepsAlive: boolean;
  readonly bodyLength: BodyLength;
  /** Whether the client waits to be told before it sends the body. */
  readonly expectsContinue: boolean;
  /** What follows the head; put there by who reads it. */
  body: AsyncIterable<Uint8Array> | null = null;
  /** Memory that its answer may take; put there by the connection. */
  room: AnswerRoom | undefined = undefined;
  #leaving: AbortController | undefined;
  #closing: AbortController | undefined;

  /**
   * Takes a head apart.
   *
   * @param text Its bytes, one a character, up to and with the empty line.
   * @param own How the server is called by a client that names no host.
   * @throws {ServeError} If it is none.
   */
  constructor(text: string, own: Origin) {
    REQUEST_LINE.lastIndex = 0;
    const line = REQUEST_LINE.exec(text);
    if (line === null) throw badRequest("it begins with no request");
    const [whole, method, target, major, minor] = line as unknown as string[];
    if (major !== "1") {
      throw new ServeError("bad-version", "The server speaks HTTP/1.1");
    }
    this.method = method!;
    this.isCurrent = minor !== "0";
    const headers = new RequestHeaders(text, whole!.length);
    this.headers = headers;
    this.url = urlOf(target!, headers, this.isCurrent, own);
    const connection = headers.get("connection");
    this.keepsAlive = connection === null
      ? this.isCurrent
      : this.isCurrent
      ? !hasWord(connection, "close")
      : hasWord(connection, "keep-alive");
    this.bodyLength = bodyLengthOf(headers, this.isCurrent);
    this.expectsContinue = this.isCurrent &&
      headers.get("expect")?.toLowerCase() === "100-continue";
  }

  /** Aborted when the client leaves before it is answered. */
  get leaving(): AbortSignal {
    return (this.#leaving ??= new AbortController()).signal;
  }

  /** Aborted when the client leaves, or closes its sending half. */
  get closing(): AbortSignal {
    return (this.#closing ??= new AbortController()).signal;
  }

  /** Reports that the client has left. */
  leave(): void {
    this.#leaving?.abort();
    this.#closing?.abort();
  }

  /** Reports that the client has closed its sending half. */
  endSending(): void {
    this.#closing?.abort();
  }
}

/**
 * What the lines say that have come of a head; it may say nothing yet.
 *
 * @param text Its bytes so far, one a character, of which `HeadScanner` has found none wrong.
 */
export function firstLines(text: string): RequestLike {
  const whole = text.slice(0, Math.max(text.lastIndexOf("\r\n"), 0));
  const [line = "", ...fields] = whole.trimStart().split("\r\n");
  const [method = "", url = ""] = line.split(" ");
  const headers = new RequestHeaders([...fields, "", ""].join("\r\n"), 0);
  return { method, url, headers, body: null };
}

/** Headers of a request: a few, of which fewer are asked for. */
class RequestHeaders {
  /** Names in lower case, each followed by its value. */
  readonly #fields: string[] = [];

  /** @throws {ServeError} If from there to the empty line at its end, a text is not made of headers. */
  constructor(text: string, start: number) {
    for (let at = start; at !== text.length - 2;) {
      NAME.lastIndex = at;
      const isNamed = NAME.test(text);
      const colon = NAME.lastIndex - 1;
      VALUE.lastIndex = colon + 1;
      if (!isNamed || !VALUE.test(text)) {
        throw badRequest("a line of its head is no header");
      }
      const next = VALUE.lastIndex;
      this.#fields.push(
        text.slice(at, colon).toLowerCase(),
        trimmed(text, colon + 1, next - 2),
      );
      at = next;
    }
  }

  has(name: string): boolean {
    const fields = this.#fields;
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] === name) return true;
    }
    return false;
  }

  /** Those of one name are one list (RFC 9110, 5.3), but cookies (RFC 6265, 5.4). */
  get(name: string): string | null {
    const fields = this.#fields;
    let value: string | null = null;
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== name) continue;
      const between = name === "cookie" ? "; " : ", ";
      value = value === null ? fields[i + 1]! : value + between + fields[i + 1];
    }
    return value;
  }

  /** How many there are of a name. */
  count(name: string): number {
    return this.#fields.filter((text, i) => i % 2 === 0 && text === name)
      .length;
  }
}

/** The URL that was asked for (RFC 9112, 3.3). */
function urlOf(
  target: string,
  headers: RequestHeaders,
  isCurrent: boolean,
  own: Origin,
): string {
  const host = headers.get("host");
  if (host === null ? isCurrent : !HOST.test(host)) {
    throw badRequest("it says no host");
  }
  if (host !== null && host.includes(",") && headers.count("host") > 1) {
    throw badRequest("it says two hosts");
  }
  const plain = hasHigh(target) ? escapeHigh(target) : target;
  if (plain.startsWith("/") || plain === "*") {
    const path = plain === "*" ? "/*" : plain;
    return `${own.scheme}://${host ?? own.authority}${path}`;
  }
  if (/^https?:\/\/[^/?#]/i.test(plain)) return plain;
  throw badRequest("it asks for no path");
}

/** How a body ends (RFC 9112, 6.3); 0 is none. */
function bodyLengthOf(headers: RequestHeaders, isCurrent: boolean): BodyLength {
  const length = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  if (coding !== null) {
    // Who reads such a request in the other way sees another one in its body.
    if (length !== null || !isCurrent) {
      throw badRequest("it says in two ways where its body ends");
    }
    if (coding.toLowerCase() === "chunked") return "chunked";
    throw new ServeError(
      "bad-coding",
      "The server knows no such coding of bodies",
    );
  }
  if (length === null) return 0;
  if (LENGTH.test(length)) return Number(length);
  throw badRequest("its Content-Length is no number");
}

/** Whether a list has a word, whatever its case. */
function hasWord(list: string, word: string): boolean {
  const lower = list.toLowerCase();
  return lower === word ||
    lower.split(",").some((each) => each.trim() === word);
}

/** A part of a text without the blanks around it: `trim` takes other characters, too. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function hasHigh(target: string): boolean {
  for (let i = 0; i < target.length; i++) {
    if (target.charCodeAt(i) > 0x7f) return true;
  }
  return false;
}

/** How each byte is escaped. */
const ESCAPES = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
);

/** Bytes that no URL has, but some clients send, as they should have been sent. */
function escapeHigh(target: string): string {
  return target.replace(
    /[\x80-\xff]/g,
    (char) => ESCAPES[char.charCodeAt(0)]!,
  );
}

/** The error for what is no request. */
export function badRequest(why: string): ServeError {
  return new ServeError("bad-request", `This is no request of HTTP: ${why}`);
}
