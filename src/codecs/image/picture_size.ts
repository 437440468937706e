/** Size that a picture's header claims. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Bytes that are searched for a picture's size: a JPEG's may follow a thumbnail. */
export const PICTURE_HEAD = 1 << 17;

/**
 * Reads the size of a JPEG, PNG, GIF, WebP or BMP from its first {@linkcode PICTURE_HEAD} bytes, or the whole file if
 * shorter. Does not decode: also works for pictures that cannot be decoded.
 *
 * @returns `undefined` if it is another format, or the size is not in `head`.
 */
export function pictureSize(head: Uint8Array): PictureSize | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
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
  if (starts("RIFF") && starts("WEBP", 8)) return webpSize(view, starts);
  if (starts("BM") && head.length >= 26) return bmpSize(view);
  return undefined;
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

/** One of the three kinds of WebP: RFC 9649, 2.5 to 2.7. */
function webpSize(
  view: DataView,
  starts: (text: string, at: number) => boolean,
): PictureSize | undefined {
  if (view.byteLength < 30) return undefined;
  if (starts("VP8 ", 12)) {
    return {
      width: view.getUint16(26, true) & 0x3fff,
      height: view.getUint16(28, true) & 0x3fff,
    };
  }
  if (starts("VP8L", 12)) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: (bits >>> 14 & 0x3fff) + 1 };
  }
  if (!starts("VP8X", 12)) return undefined;
  const uint24 = (at: number) =>
    view.getUint16(at, true) | view.getUint8(at + 2) << 16;
  return { width: uint24(24) + 1, height: uint24(27) + 1 };
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
