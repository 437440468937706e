import type { HeadersLike } from "../request_like.ts";
import { newToken, Token } from "./token.ts";

const PATH_BYTES = 16;

const COOKIE = "recordfs=";
/** Browsers accept a cookie of this name over HTTPS only (RFC 6265bis, 4.1.3.1). */
const SECURE_COOKIE = `__Secure-${COOKIE}`;

/** Pair of a `Forwarded` header (RFC 7239, 4) and its delimiter. Some proxies write addresses with a port unquoted. */
const PAIR =
  /[ \t]*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))[ \t]*([;,]|$)/y;

/** Session secrets, shared by all threads of a server. */
export interface SessionSecrets {
  /** Directory of the page in URLs: `/s/PATH/`. */
  readonly path: string;
  readonly id: string;
  readonly isTls: boolean;
}

export function newSession(isTls: boolean): SessionSecrets {
  return { path: newToken(PATH_BYTES), id: newToken(), isTls };
}

/**
 * Session of the page. Browsers send a cookie to all ports of a host, for the paths below its own; so the page has a
 * path that no other server knows, and the cookie grants nothing outside it.
 */
export class TokenSession {
  /** Directory of the page, without a trailing slash. */
  readonly base: string;
  readonly filesPath: string;
  readonly #isTls: boolean;
  readonly #start: string;
  readonly #path: Token;
  readonly #idText: string;
  readonly #id: Token;

  /** @param base Base path of all URLs of the server, without a trailing slash. */
  constructor({ path, id, isTls }: SessionSecrets, base: string) {
    this.#start = `${base}/s/`;
    this.base = `${this.#start}${path}`;
    this.filesPath = `${this.base}/files/`;
    this.#path = new Token(path);
    this.#idText = id;
    this.#id = new Token(id);
    this.#isTls = isTls;
  }

  has(path: string): boolean {
    if (!path.startsWith(this.#start)) return false;
    const from = this.#start.length;
    const slash = path.indexOf("/", from);
    return this.#path.is(path, from, slash < 0 ? path.length : slash);
  }

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
   * Returns the value of the `Set-Cookie` header.
   *
   * @param url Request URL.
   * @param trustsProxy Whether the headers come from a trusted proxy, which reports the scheme that the browser used.
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

/** Masks the secret part of a path for logs. */
export function hidePath(
  path: string,
  { path: secret }: SessionSecrets,
): string {
  return path.includes(secret) ? path.replaceAll(secret, "*") : path;
}

/** Whether the proxy headers say that the browser reached the first proxy over HTTPS. */
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
    if (end !== ";") break; // the rest is from another proxy
  }
  return false;
}
