import { type FoundHeader, textAt } from "./found_header.ts";

/** Bit of VP8X's flags for alpha. */
const ALPHA = 0x10;

/**
 * Reads the header of a WebP from its first 30 bytes, in one of three kinds (RFC 9649, 2.5 to 2.7). An animation has
 * the size of its canvas.
 *
 * @returns `undefined` if it is not a WebP, or truncated.
 */
export function webpHeader(view: DataView): FoundHeader | undefined {
  if (textAt(view, 0, 4) !== "RIFF" || textAt(view, 8, 4) !== "WEBP") {
    return undefined;
  }
  if (view.byteLength < 30) return undefined;
  switch (textAt(view, 12, 4)) {
    case "VP8 ":
      return picture(
        view.getUint16(26, true) & 0x3fff,
        view.getUint16(28, true) & 0x3fff,
        false,
      );
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return picture(
        (bits & 0x3fff) + 1,
        (bits >>> 14 & 0x3fff) + 1,
        (bits >>> 28 & 1) === 1,
      );
    }
    case "VP8X": {
      const uint24 = (at: number) =>
        view.getUint16(at, true) | view.getUint8(at + 2) << 16;
      const hasAlpha = (view.getUint8(20) & ALPHA) !== 0;
      return picture(uint24(24) + 1, uint24(27) + 1, hasAlpha);
    }
  }
  return undefined;
}

function picture(
  width: number,
  height: number,
  hasAlpha: boolean,
): FoundHeader {
  return { width, height, hasAlpha, channels: 3, isCmyk: false };
}
