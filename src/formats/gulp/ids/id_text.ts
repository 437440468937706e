/**
 * Video ids and their bytes: UTF-8 with lone surrogates as three bytes. Every string that JSON can hold has exactly one
 * form, so comparing bytes compares ids.
 *
 * @module
 */
import {
  decodePickledText,
  encodePickledText,
} from "../../../codecs/pickle/text.ts";

/** Video id; an integer stands for its digits, as in the original libraries. */
export type VideoId = string | number | bigint;

export function encodeId(id: string): Uint8Array {
  return encodePickledText(id);
}

/** Decodes `bytes[start … end]`. */
export function decodeId(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): string {
  return decodePickledText(bytes, start, end);
}
