/**
 * Ids of videos, and their bytes: UTF-8 in which lone surrogates stand as three bytes, so that every string that JSON
 * can hold has exactly one form, and comparing bytes compares ids.
 *
 * @module
 */
import {
  decodePickledText,
  encodePickledText,
} from "../../../codecs/pickle/text.ts";

/** An id: integers stand for their digits, as in the originals. */
export type VideoId = string | number | bigint;

/** Up to this length, a loop is faster than a call of the encoder. */
const SHORT = 64;

/** The bytes of an id. */
export function encodeId(id: string): Uint8Array {
  return encodeShortAscii(id) ?? encodePickledText(id);
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
