import type { ResponseRoom } from "../response_room.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";

export interface Origin {
  readonly scheme: "http" | "https";
  readonly authority: string;
}

export type BodyLength = number | "chunked";

/** RFC 9110, 5.6.2. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9112, 3. */
const REQUEST_LINE = new RegExp(
  `(${TOKEN}) ([\\x21-\\x7e\\x80-\\xff]+) HTTP/([0-9])\\.([0-9])\\r\\n`,
  "y",
);
/** Header name (RFC 9112, 5), directly followed by a colon. */
const NAME = new RegExp(`${TOKEN}:`, "y");
/** Header value with its line end; no line folding. */
const VALUE = /[\t\x20-\x7e\x80-\xff]*\r\n/y;
/** Authority, as allowed in URLs: {@linkcode RequestHead.url} is built from it. */
const HOST = /^[^\s/?#@\\]*$/;
const LENGTH = /^[0-9]{1,15}$/;

/**
 * Head of an HTTP/1.1 or 1.0 request. Parses strictly by RFC 9112: anything ambiguous is rejected. On the hot path, so
 * optimized for speed.
 */
export class RequestHead implements RequestLike {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Whether it is HTTP/1.1: HTTP/1.0 clients do not support chunks. */
  readonly isCurrent: boolean;
  readonly keepsAlive: boolean;
  readonly bodyLength: BodyLength;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  /** Body of the request, set by the connection. */
  body: AsyncIterable<Uint8Array> | null = null;
  /** Memory budget of the response, set by the connection. */
  room: ResponseRoom | undefined = undefined;
  #leaving: AbortController | undefined;
  #closing: AbortController | undefined;

  /**
   * Parses a head.
   *
   * @param text The bytes, one per character, up to and including the empty line.
   * @param own Origin for clients that send no `Host`.
   * @throws {ServeError} If it is malformed.
   */
  constructor(text: string, own: Origin) {
    REQUEST_LINE.lastIndex = 0;
    const line = REQUEST_LINE.exec(text);
    if (line === null) throw badRequest("it has no request line");
    const [whole, method, target, major, minor] = line as unknown as string[];
    if (major !== "1") {
      throw new ServeError("bad-version", "The server supports HTTP/1.1 only");
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

  /** Aborted when the client disconnects before the response. */
  get leaving(): AbortSignal {
    return (this.#leaving ??= new AbortController()).signal;
  }

  /** Aborted when the client disconnects or closes its sending half. */
  get closing(): AbortSignal {
    return (this.#closing ??= new AbortController()).signal;
  }

  /** Reports that the client has disconnected. */
  leave(): void {
    this.#leaving?.abort();
    this.#closing?.abort();
  }

  /** Reports that the client has closed its sending half. */
  endSending(): void {
    this.#closing?.abort();
  }
}

/** Parses the complete lines of a partial head, which is valid so far and has one character per byte. */
export function firstLines(text: string): RequestLike {
  const whole = text.slice(0, Math.max(text.lastIndexOf("\r\n"), 0));
  const [line = "", ...fields] = whole.trimStart().split("\r\n");
  const [method = "", url = ""] = line.split(" ");
  const headers = new RequestHeaders([...fields, "", ""].join("\r\n"), 0);
  return { method, url, headers, body: null };
}

/** Headers of a request. A linear list, because there are few and fewer are read. */
class RequestHeaders {
  /** Names in lower case, each followed by its value. */
  readonly #fields: string[] = [];

  /** @throws {ServeError} If the text from `start` to the empty line at its end is not a list of headers. */
  constructor(text: string, start: number) {
    for (let at = start; at !== text.length - 2;) {
      NAME.lastIndex = at;
      const isNamed = NAME.test(text);
      const colon = NAME.lastIndex - 1;
      VALUE.lastIndex = colon + 1;
      if (!isNamed || !VALUE.test(text)) {
        throw badRequest("a line of its head is not a header");
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

  /** Joins the values of a name to a list (RFC 9110, 5.3); cookies by semicolons (RFC 6265, 5.4). */
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

  count(name: string): number {
    return this.#fields.filter((text, i) => i % 2 === 0 && text === name)
      .length;
  }
}

/** Returns the requested URL (RFC 9112, 3.3). */
function urlOf(
  target: string,
  headers: RequestHeaders,
  isCurrent: boolean,
  own: Origin,
): string {
  const host = headers.get("host");
  if (host === null ? isCurrent : !HOST.test(host)) {
    throw badRequest("it has no Host");
  }
  if (host !== null && host.includes(",") && headers.count("host") > 1) {
    throw badRequest("it has two Hosts");
  }
  const plain = hasHigh(target) ? escapeHigh(target) : target;
  if (plain.startsWith("/") || plain === "*") {
    const path = plain === "*" ? "/*" : plain;
    return `${own.scheme}://${host ?? own.authority}${path}`;
  }
  if (/^https?:\/\/[^/?#]/i.test(plain)) return plain;
  throw badRequest("it has no path");
}

/** Determines the length of the body (RFC 9112, 6.3); 0 if there is none. */
function bodyLengthOf(headers: RequestHeaders, isCurrent: boolean): BodyLength {
  const length = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  if (coding !== null) {
    // Prevents request smuggling: a proxy that decides otherwise would see another request in the body.
    if (length !== null || !isCurrent) {
      throw badRequest(
        "its Transfer-Encoding conflicts with its Content-Length or its version",
      );
    }
    if (coding.toLowerCase() === "chunked") return "chunked";
    throw new ServeError(
      "bad-coding",
      "This Transfer-Encoding is unsupported",
    );
  }
  if (length === null) return 0;
  if (LENGTH.test(length)) return Number(length);
  throw badRequest("its Content-Length is not a number");
}

function hasWord(list: string, word: string): boolean {
  const lower = list.toLowerCase();
  return lower === word ||
    lower.split(",").some((each) => each.trim() === word);
}

/** Trims spaces and tabs only: `trim` would remove other characters, too. */
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

const ESCAPES = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
);

/** Escapes bytes that are invalid in URLs, but sent by some clients. */
function escapeHigh(target: string): string {
  return target.replace(
    /[\x80-\xff]/g,
    (char) => ESCAPES[char.charCodeAt(0)]!,
  );
}

export function badRequest(why: string): ServeError {
  return new ServeError("bad-request", `Cannot read the HTTP request: ${why}`);
}
