import type { StoredPixels } from "./stored_pixels.ts";

/** Memory that values of pictures are written to. */
export type ValueArray =
  | Uint8Array<ArrayBuffer>
  | Float16Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>;

/** Where a picture's values go. */
export interface Strides {
  /** Where the first channel of the first pixel goes. */
  readonly start: number;
  /** Distance from one pixel to the next. */
  readonly pixel: number;
  /** Distance from one channel to the next. */
  readonly channel: number;
}

/** Writes a picture's values, in one pass over its pixels. */
export function writeValues(
  stored: StoredPixels,
  channels: 1 | 3,
  out: ValueArray,
  strides: Strides,
): void {
  if (channels === 1) writeGray(stored, out, strides);
  else writeRgb(stored, out, strides);
}

function writeGray(
  { pixels, factors, offsets }: StoredPixels,
  out: ValueArray,
  { start, pixel }: Strides,
): void {
  const factor = factors[0]!;
  const offset = offsets[0]!;
  for (let from = 0, to = start; from < pixels.length; from++, to += pixel) {
    out[to] = pixels[from]! * factor + offset;
  }
}

function writeRgb(
  { pixels, factors, offsets }: StoredPixels,
  out: ValueArray,
  { start, pixel, channel }: Strides,
): void {
  const [red, green, blue] = factors as [number, number, number];
  const [noRed, noGreen, noBlue] = offsets as [number, number, number];
  for (let from = 0, to = start; from < pixels.length; from += 3, to += pixel) {
    out[to] = pixels[from]! * red + noRed;
    out[to + channel] = pixels[from + 1]! * green + noGreen;
    out[to + 2 * channel] = pixels[from + 2]! * blue + noBlue;
  }
}
