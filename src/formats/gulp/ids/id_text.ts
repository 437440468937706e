/**
 * Ids of videos, and their bytes: UTF-8 in which lone surrogates stand as three bytes, so that every string that JSON
 * can hold has exactly one form, and comparing bytes compares ids.
 *
 * @module
 */
import { decodePickledText } from "../../../codecs/pickle/text.ts";

/** An id: integers stand for their digits, as in the originals. */
export type VideoId = string | number | bigint;

const encoder = new TextEncoder();

/** Up to this length, a loop is faster than a call of the encoder. */
const SHORT = 64;

/** The bytes of an id. */
export function encodeId(id: string): Uint8Array {
  return encodeShortAscii(id) ?? encodeAny(id);
}

function encodeShortAscii(id: string): Uint8Array | undefined {
  if (id.length > SHORT) return undefined;
  const bytes = new Uint8Array(id.length);
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code >= 0x80) return undefined;
    bytes[i] = code;
  }
  return bytes;
}

function encodeAny(id: string): Uint8Array {
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
  if (end - start > SHORT) return decodePickledText(bytes, start, end);
  let id = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80) return decodePickledText(bytes, start, end);
    id += String.fromCharCode(byte);
  }
  return id;
}
