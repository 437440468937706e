import type { HeadersLike } from "../request_like.ts";

/** Random bytes of a token. */
const BYTES = 32;

/** A random text of characters that URLs, headers and shells take as they are. */
export function newToken(bytes: number = BYTES): string {
  return crypto.getRandomValues(new Uint8Array(bytes))
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

  constructor(token: string) {
    for (let i = 0; i < token.length; i++) this.#codes[i] = token.charCodeAt(i);
    this.#length = token.length;
  }

  /** Whether a text, from its start to its end, is the token. The time that it takes depends on their distance alone. */
  is(text: string, start = 0, end: number = text.length): boolean {
    const codes = this.#codes;
    const length = end - start;
    let differs = length ^ this.#length;
    for (let i = 0; i < length; i++) {
      differs |= text.charCodeAt(start + i) ^ codes[i & (CODES - 1)]!;
    }
    return differs === 0;
  }

  /** Whether headers have the token: by `Bearer`, or by `Basic` as the password. */
  isIn(headers: HeadersLike): boolean {
    const authorization = headers.get("authorization");
    return authorization !== null && this.#isIn(authorization);
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
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return "";
  }
}
