import type { HeadersLike } from "../request_like.ts";

const BYTES = 32;

/** Returns a random string that needs no escaping in URLs, headers and shells. */
export function newToken(bytes: number = BYTES): string {
  return crypto.getRandomValues(new Uint8Array(bytes))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Valid tokens: the characters of `token68` in RFC 9110, so that they fit into headers. */
export const TOKEN = /^[A-Za-z0-9._~+/-]{16,1024}=*$/;

const BEARER = "Bearer ";

/** Exceeds the longest token, and is a power of two: every comparison indexes the array in the same time. */
const CODES = 2048;

/** Secret token, compared in constant time so that timing does not leak it. */
export class Token {
  /** Character codes of the token, padded with zeros. */
  readonly #codes = new Uint16Array(CODES);
  readonly #length: number;

  constructor(token: string) {
    for (let i = 0; i < token.length; i++) this.#codes[i] = token.charCodeAt(i);
    this.#length = token.length;
  }

  /** Whether the range of a text equals the token. The time depends on the length of the range alone. */
  is(text: string, start = 0, end: number = text.length): boolean {
    const codes = this.#codes;
    const length = end - start;
    let differs = length ^ this.#length;
    for (let i = 0; i < length; i++) {
      differs |= text.charCodeAt(start + i) ^ codes[i & (CODES - 1)]!;
    }
    return differs === 0;
  }

  /** Whether the headers carry the token: as `Bearer`, or as the password of `Basic`. */
  isIn(headers: HeadersLike): boolean {
    const authorization = headers.get("authorization");
    return authorization !== null && this.#isIn(authorization);
  }

  #isIn(authorization: string): boolean {
    // Fast path for the usual spelling: allocates no strings.
    if (authorization.startsWith(BEARER)) {
      if (this.is(authorization, BEARER.length)) return true;
    }
    const space = authorization.indexOf(" ");
    const scheme = authorization.slice(0, Math.max(space, 0)).toLowerCase();
    const rest = authorization.slice(space + 1).trim();
    if (scheme === "bearer") return this.is(rest);
    if (scheme !== "basic") return false;
    const login = decodeBase64(rest);
    return login.includes(":") && this.is(login.slice(login.indexOf(":") + 1));
  }
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return "";
  }
}
