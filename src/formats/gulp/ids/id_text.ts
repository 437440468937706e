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

/** The bytes of an id. */
export function encodeId(id: string): Uint8Array {
  return encodePickledText(id);
}

/** The id whose bytes are `bytes[start … end]`. */
export function decodeId(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): string {
  return decodePickledText(bytes, start, end);
}
