import { createHash } from "node:crypto";
import type { HeadersLike } from "../request_like.ts";

/** Bytes of chance in a token. */
const BYTES = 32;

/** A token that nobody guesses, made of characters that URLs, headers and shells take as they are. */
export function newToken(): string {
  return crypto.getRandomValues(new Uint8Array(BYTES))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Characters that a token may have: those of `token68` in RFC 9110, so that it fits into headers. */
export const TOKEN = /^[A-Za-z0-9._~+/-]{16,1024}=*$/;

const BEARER = "Bearer ";

/** More codes than a token has, and a power of two, so that none takes longer to find than others. */
const CODES = 2048;

/** A token that those who ask are compared with: how long that takes tells nothing of it. */
export class Token {
  /** The token's characters, and zeros behind. */
  readonly #codes = new Uint16Array(CODES);
  readonly #length: number;
  /** What the cookie is called: browsers keep cookies of all servers of a host together, whatever their ports. */
  readonly cookie: string;

  constructor(token: string) {
    for (let i = 0; i < token.length; i++) this.#codes[i] = token.charCodeAt(i);
    this.#length = token.length;
    const digest = createHash("sha256").update(`recordfs cookie ${token}`);
    this.cookie = `recordfs-${digest.digest("hex").slice(0, 12)}`;
  }

  /** Whether a text, behind its start, is the token. The time that it takes depends on the text's length alone. */
  is(text: string, start = 0): boolean {
    const codes = this.#codes;
    const length = text.length - start;
    let differs = length ^ this.#length;
    for (let i = 0; i < length; i++) {
      differs |= text.charCodeAt(start + i) ^ codes[i & (CODES - 1)]!;
    }
    return differs === 0;
  }

  /** Whether headers say who may ask: by `Bearer`, by `Basic` with the token as the password, or by the cookie. */
  isIn(headers: HeadersLike): boolean {
    const authorization = headers.get("authorization");
    if (authorization !== null && this.#isIn(authorization)) return true;
    const cookies = headers.get("cookie");
    return cookies !== null && this.#isCookie(cookies);
  }

  #isIn(authorization: string): boolean {
    // As nearly all write it: without a text for each part.
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

  #isCookie(cookies: string): boolean {
    const start = `${this.cookie}=`;
    for (const part of cookies.split(";")) {
      const cookie = part.trim();
      if (cookie.startsWith(start) && this.is(cookie.slice(start.length))) {
        return true;
      }
    }
    return false;
  }
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return "";
  }
}
