import type { HeadersLike } from "../request_like.ts";
import { newToken, Token } from "./token.ts";

/** Random bytes of a session's path. */
const PATH_BYTES = 16;

const COOKIE = "recordfs=";
/** Browsers take a cookie of this name by HTTPS only (RFC 6265bis, 4.1.3.1). */
const SECURE_COOKIE = `__Secure-${COOKIE}`;

/** A pair of `Forwarded` (RFC 7239, 4), and what ends it; proxies write addresses with their port without quotes. */
const PAIR =
  /[ \t]*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))[ \t]*([;,]|$)/y;

/** What all threads of a server know of the page's session. */
export interface SessionSecrets {
  /** Name of the directory in URLs that the page is in: `/s/PATH/`. */
  readonly path: string;
  /** Value of the cookie. */
  readonly id: string;
  /** Whether browsers reach the server by HTTPS alone. */
  readonly isTls: boolean;
}

/** Makes the secrets of one server, or of one handler. */
export function newSession(isTls: boolean): SessionSecrets {
  return { path: newToken(PATH_BYTES), id: newToken(), isTls };
}

/**
 * Access of the page. Browsers send a cookie to all ports of a host, and to the paths below its own: this one has a
 * path that no other server knows, and opens nothing outside it.
 */
export class Session {
  /** The page's directory, which its URLs start with; without a slash at its end. */
  readonly base: string;
  /** The path that URLs of its files start with. */
  readonly filesPath: string;
  readonly #isTls: boolean;
  readonly #start: string;
  readonly #path: Token;
  readonly #idText: string;
  readonly #id: Token;

  /** @param base What all URLs of the server start with, without a slash at its end. */
  constructor({ path, id, isTls }: SessionSecrets, base: string) {
    this.#start = `${base}/s/`;
    this.base = `${this.#start}${path}`;
    this.filesPath = `${this.base}/files/`;
    this.#path = new Token(path);
    this.#idText = id;
    this.#id = new Token(id);
    this.#isTls = isTls;
  }

  /** Whether a URL's path is the page's directory, or below it. */
  has(path: string): boolean {
    if (!path.startsWith(this.#start)) return false;
    const from = this.#start.length;
    const slash = path.indexOf("/", from);
    return this.#path.is(path, from, slash < 0 ? path.length : slash);
  }

  /** Whether headers have the session's cookie. */
  isIn(headers: HeadersLike): boolean {
    const cookies = headers.get("cookie");
    if (cookies === null) return false;
    for (let start = 0; start < cookies.length;) {
      const found = cookies.indexOf(";", start);
      const end = found < 0 ? cookies.length : found;
      while (start < end && cookies[start] === " ") start++;
      if (cookies.startsWith(SECURE_COOKIE, start)) start += "__Secure-".length;
      const isOurs = cookies.startsWith(COOKIE, start);
      if (isOurs && this.#id.is(cookies, start + COOKIE.length, end)) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }

  /**
   * The cookie, as `Set-Cookie` has it.
   *
   * @param url Of the request.
   * @param trustsProxy Whether the headers are those of a proxy, which says by what the browser has called it.
   */
  cookie(url: string, headers: HeadersLike, trustsProxy: boolean): string {
    const isSecure = this.#isTls || url.startsWith("https:") ||
      trustsProxy && isForwardedByTls(headers);
    const [name, attribute] = isSecure
      ? [SECURE_COOKIE, "; Secure"]
      : [COOKIE, ""];
    return `${name}${this.#idText}; Path=${this.base}/; HttpOnly; SameSite=Strict${attribute}`;
  }
}

/** A path as a log may show it: without the secret part of the page's. */
export function hidePath(
  path: string,
  { path: secret }: SessionSecrets,
): string {
  return path.includes(secret) ? path.replaceAll(secret, "*") : path;
}

/** Whether a proxy says that the browser has called the first one by HTTPS. */
function isForwardedByTls(headers: HeadersLike): boolean {
  const [first] = (headers.get("x-forwarded-proto") ?? "").split(",", 1);
  if (first!.trim().toLowerCase() === "https") return true;
  const forwarded = headers.get("forwarded") ?? "";
  PAIR.lastIndex = 0;
  for (let pair; (pair = PAIR.exec(forwarded)) !== null;) {
    const [, name, quoted, plain, end] = pair;
    if (name!.toLowerCase() === "proto") {
      return (quoted ?? plain)!.toLowerCase() === "https";
    }
    if (end !== ";") break; // what follows is of another proxy
  }
  return false;
}
