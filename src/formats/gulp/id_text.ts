/**
 * Ids as bytes: UTF-8 in which lone surrogates stand as three bytes, so that every string that JSON
 * can hold has exactly one form, and comparing bytes compares ids.
 *
 * @module
 */
import { decodePickledText } from "../../codecs/pickle/text.ts";

const encoder = new TextEncoder();

/** The bytes of an id. */
export function encodeId(id: string): Uint8Array {
  if (id.isWellFormed()) return encoder.encode(id);
  const bytes: number[] = [];
  for (const char of id) { // by code point: only lone surrogates stay single
    const code = char.codePointAt(0)!;
    if (code >= 0xd800 && code <= 0xdfff) {
      bytes.push(0xed, 0x80 | code >> 6 & 0x3f, 0x80 | code & 0x3f);
    } else bytes.push(...encoder.encode(char));
  }
  return Uint8Array.from(bytes);
}

/** The id whose bytes are `bytes[start … end]`. */
export function decodeId(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): string {
  if (end - start > 64) return decodePickledText(bytes, start, end);
  let id = ""; // short ASCII is faster this way
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80) return decodePickledText(bytes, start, end);
    id += String.fromCharCode(byte);
  }
  return id;
}
