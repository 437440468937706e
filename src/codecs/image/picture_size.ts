import { avifHeader } from "./headers/avif_header.ts";
import { viewOf } from "../../base/view_of.ts";
import { tiffHeader } from "./headers/tiff_header.ts";
import { webpHeader } from "./headers/webp_header.ts";

/** Size that a picture's header claims. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Bytes that are searched for a picture's size: a JPEG's may follow a thumbnail. */
export const PICTURE_HEAD = 1 << 17;

/**
 * Reads the size of a JPEG, PNG, GIF, WebP, AVIF, TIFF or BMP from its first {@linkcode PICTURE_HEAD} bytes, or the whole file if
 * shorter. Does not decode: also works for pictures that cannot be decoded.
 *
 * @returns `undefined` if it is another format, or the size is not in `head`.
 */
export function pictureSize(head: Uint8Array): PictureSize | undefined {
  const view = viewOf(head);
  const starts = (text: string, at = 0) =>
    head.length >= at + text.length &&
    [...text].every((char, i) => head[at + i] === char.charCodeAt(0));
  if (starts("\x89PNG\r\n\x1a\n") && starts("IHDR", 12) && head.length >= 24) {
    return { width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (starts("\xff\xd8\xff")) return jpegSize(view);
  if ((starts("GIF87a") || starts("GIF89a")) && head.length >= 10) {
    return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  if (starts("BM") && head.length >= 26) return bmpSize(view);
  const found = webpHeader(view) ?? avifHeader(view) ?? tiffHeader(view);
  return found && { width: found.width, height: found.height };
}

/** Finds the frame header (T.81, B.2.2) by skipping segments by their lengths. */
function jpegSize(view: DataView): PictureSize | undefined {
  for (let at = 2; at + 9 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const code = view.getUint8(at + 1);
    if (code === 0xff) { // a fill byte
      at++;
      continue;
    }
    const isFrame = code >= 0xc0 && code <= 0xcf &&
      code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
    if (isFrame) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    }
    if (code === 0xda) return undefined;
    const isAlone = code === 0x01 || code >= 0xd0 && code <= 0xd8;
    at += 2 + (isAlone ? 0 : view.getUint16(at + 2));
  }
  return undefined;
}

/** A negative height means rows from the top. Headers of 12 bytes are OS/2's. */
function bmpSize(view: DataView): PictureSize {
  if (view.getUint32(14, true) === 12) {
    return {
      width: view.getUint16(18, true),
      height: view.getUint16(20, true),
    };
  }
  return {
    width: Math.abs(view.getInt32(18, true)),
    height: Math.abs(view.getInt32(22, true)),
  };
}
