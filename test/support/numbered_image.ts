/** Pictures whose pixels encode their position. */
import type { Image } from "../../src/codecs/image/mod.ts";

/**
 * Makes a picture of up to 256 × 256 pixels. Red is the column and green the row; in a gray one, pixels are numbered
 * from 1.
 */
export function numberedImage(
  width: number,
  height: number,
  channels: 1 | 3,
): Image {
  const data = new Uint8Array(height * width * channels);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (channels === 1) {
        data[i++] = y * width + x + 1;
      } else {
        data[i++] = x;
        data[i++] = y;
        data[i++] = x ^ y;
      }
    }
  }
  return { data, height, width, channels };
}

/** Returns the position of a part in such a picture. A gray one may have at most 255 pixels. */
export function placeOf(part: Image, whole: Image): { x: number; y: number } {
  if (whole.channels === 3) return { x: part.data[0]!, y: part.data[1]! };
  const at = part.data[0]! - 1;
  return { x: at % whole.width, y: Math.floor(at / whole.width) };
}
