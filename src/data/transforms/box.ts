import type { Random } from "../random/random.ts";
import {
  newPixels,
  type Picture,
  storedPixels,
  withPixels,
} from "./picture.ts";
import type { Size } from "./size.ts";

/** A part of a picture, in pixels. */
export interface Box extends Size {
  /** Its first row. */
  readonly top: number;
  /** Its first column. */
  readonly left: number;
}

/**
 * A box of that size anywhere inside a picture, each place as likely.
 *
 * @param step The name of the step, for the message.
 * @throws {RangeError} If the picture is smaller.
 */
export function randomBox(
  picture: Size,
  { height, width }: Size,
  random: Random,
  step: string,
): Box {
  if (height > picture.height || width > picture.width) {
    throw new RangeError(
      `${step} cannot cut ${width} × ${height} pixels out of ${picture.width} × ` +
        `${picture.height}: scale before it (Scale), or give it padding`,
    );
  }
  const left = random.int(picture.width - width + 1);
  const top = random.int(picture.height - height + 1);
  return { top, left, height, width };
}

/** The part of a picture that a box inside it shows: its rows are copied. */
export function crop<P extends Picture>(
  picture: P,
  { top, left, height, width }: Box,
): P {
  if (height === picture.height && width === picture.width) return picture;
  const { pixels } = storedPixels(picture);
  const { channels } = picture;
  const stride = picture.width * channels;
  const row = width * channels;
  const out = newPixels(pixels, height * row);
  let from = top * stride + left * channels;
  for (let to = 0; to < out.length; to += row, from += stride) {
    out.set(pixels.subarray(from, from + row), to);
  }
  return withPixels(picture, out, height, width);
}
