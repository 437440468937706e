import { RecordfsError } from "../base/errors.ts";
import { encodeName } from "../base/names.ts";
import { ServeError } from "./serve_error.ts";

/** Maximum length of a URL path, in characters. */
const LONGEST = 64 << 10;
/** Characters that need no escaping in paths and queries: `unreserved` of RFC 3986. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;

/**
 * Decodes a URL path to names, as bytes: names need not be UTF-8.
 *
 * @param path Percent-encoded names separated by slashes; a trailing slash is ignored.
 * @throws {ServeError} If it contains names that cannot be in a tree: empty ones, `..`, an escaped `.`, NUL or slash,
 * or an invalid escape.
 */
export function decodePath(path: string): Uint8Array[] {
  if (path.length > LONGEST) throw badPath("it is too long");
  const whole = path.endsWith("/") ? path.slice(0, -1) : path;
  // A `.` is the current directory (RFC 3986, 5.2.4); some programs prefix names with a colon by it.
  const names = whole.split("/").filter((name) => name !== ".");
  return whole === "" ? [] : names.map(decodeOne);
}

function decodeOne(text: string): Uint8Array {
  if (text === "") throw badPath("a name in it is empty");
  const name = text.includes("%") ? unescaped(text) : encodeName(text);
  const isDots = name[0] === 0x2e &&
    (name.length === 1 || name.length === 2 && name[1] === 0x2e);
  if (isDots) throw badPath("'.' and '..' are not names");
  if (name.includes(0)) throw badPath("it has a NUL");
  if (name.includes(0x2f)) throw badPath("a name in it has a slash");
  return name;
}

function unescaped(text: string): Uint8Array {
  const bytes = encodeName(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at]!;
    if (byte === 0x25) {
      const digits = String.fromCharCode(
        bytes[at + 1] ?? 0,
        bytes[at + 2] ?? 0,
      );
      if (!/^[0-9A-Fa-f]{2}$/.test(digits)) {
        throw badPath("a % must be followed by two hexadecimal digits");
      }
      byte = parseInt(digits, 16);
      at += 2;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

function badPath(why: string): ServeError {
  return new ServeError("bad-path", `Cannot use this path: ${why}`);
}

export function encodeUrlName(name: string): string {
  if (PLAIN.test(name)) return name;
  let text = "";
  for (const byte of encodeName(name)) {
    const char = String.fromCharCode(byte);
    text += byte < 0x80 && PLAIN.test(char)
      ? char
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text;
}

export function encodeUrlPath(path: string): string {
  return path.split("/").map(encodeUrlName).join("/");
}

/** Parts of a URL, verbatim. */
export interface SplitUrl {
  /** Empty if the URL starts with its path. */
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/** Splits a URL that is absolute or starts with its path. */
export function splitUrl(url: string): SplitUrl {
  const scheme = url.indexOf("://");
  const start = scheme < 0 ? 0 : scheme + 3;
  const mark = url.indexOf("?", start);
  const hash = url.indexOf("#", start);
  const whole = hash < 0 ? url.length : hash;
  const end = mark < 0 || mark > whole ? whole : mark;
  const found = scheme < 0 ? 0 : url.indexOf("/", start);
  const slash = found < 0 || found > end ? end : found;
  return {
    authority: url.slice(start, slash),
    path: url.slice(slash, end),
    query: url.slice(Math.min(end + 1, whole), whole),
  };
}

/** Normalizes a base path: no trailing slash, empty for `/`. Throws code `bad-option` if it is invalid. */
export function basePathOf(path: string): string {
  const base = path.replace(/^\/*/, "/").replace(/\/+$/, "");
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(base) && !/\/\.{1,2}(\/|$)/.test(base)) {
    return base;
  }
  throw new RecordfsError(
    "bad-option",
    `'${path}' is not a base path, which has letters, digits and -._~ between slashes`,
  );
}
