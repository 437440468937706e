/**
 * Names as bytes (on disk, in the tree) and as strings (in the API).
 *
 * Bytes that are not UTF-8 become lone surrogates U+DC80 … U+DCFF and back, as in Python's `os.fsdecode` (PEP 383), so
 * every name has exactly one string and none is lost.
 *
 * @module
 */
import {
  decodeShortAscii,
  encodeShortAscii,
  shortAsciiInto,
} from "./short_ascii.ts";
import { strictUtf8Text } from "./utf8.ts";

const encoder = new TextEncoder();

/** Encodes a name; a lone surrogate U+DC80 … U+DCFF becomes the byte it stands for. */
export function encodeName(name: string): Uint8Array {
  const ascii = encodeShortAscii(name);
  if (ascii !== undefined) return ascii;
  if (name.isWellFormed()) return encoder.encode(name);
  const bytes: number[] = [];
  for (const char of name) { // by code point: only lone surrogates stay single
    const code = char.codePointAt(0)!;
    if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00);
    else if (code >= 0xd800 && code <= 0xdfff) {
      bytes.push(
        0xe0 | code >> 12,
        0x80 | code >> 6 & 0x3f,
        0x80 | code & 0x3f,
      );
    } else bytes.push(...encoder.encode(char));
  }
  return Uint8Array.from(bytes);
}

/**
 * Encodes a name into `memory` from `start`, with room for three bytes per UTF-16 unit. Returns the length in bytes.
 */
export function encodeNameInto(
  name: string,
  memory: Uint8Array,
  start: number,
): number {
  if (shortAsciiInto(name, memory, start)) return name.length;
  const bytes = encodeName(name);
  memory.set(bytes, start);
  return bytes.length;
}

/** Decodes the name in `bytes[start … end]`; a byte that is not UTF-8 becomes U+DC00 + the byte. */
export function decodeName(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): string {
  return decodeShortAscii(bytes, start, end) ??
    decodeUnicode(bytes.slice(start, end)); // TextDecoder refuses shared memory
}

/** @param bytes Not in shared memory, which `TextDecoder` refuses. */
function decodeUnicode(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch {
    return decodeEscaping(bytes);
  }
}

/** Orders names by code point, as Python does; JavaScript's default order is by UTF-16 unit. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // All units before are equal. The previous ones may be halves of different code points, or of one and of none.
    const before = i === 0 ? 0 : a.codePointAt(i - 1)! - b.codePointAt(i - 1)!;
    return before !== 0 ? before : a.codePointAt(i)! - b.codePointAt(i)!;
  }
  return a.length - b.length;
}

function decodeEscaping(bytes: Uint8Array): string {
  let name = "";
  for (let i = 0; i < bytes.length;) {
    const length = utf8Length(bytes, i);
    name += length === 0
      ? String.fromCharCode(0xdc00 + bytes[i]!)
      : strictUtf8Text(bytes.subarray(i, i + length));
    i += length || 1;
  }
  return name;
}

/** Length of the valid UTF-8 sequence at `at` (RFC 3629, surrogates excluded), or 0. */
function utf8Length(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0;
  for (let k = 1; k < length; k++) {
    if ((bytes[at + k]! & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1]!;
  const wrong = first === 0xe0 && second < 0xa0 || // overlong
    first === 0xed && second > 0x9f || // surrogate
    first === 0xf0 && second < 0x90 || // overlong
    first === 0xf4 && second > 0x8f; // beyond U+10FFFF
  return wrong ? 0 : length;
}

/** Sorts names in place as Python does, by code point: without surrogates, that is JavaScript's default order. */
export function sortNames(names: string[]): string[] {
  const simple = names.every((name) => !/[\ud800-\udfff]/.test(name));
  return simple ? names.sort() : names.sort(byCodePoint);
}

/** Splits a path into the names on it; the root has none. */
export function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
