import { assertImage, type Image } from "../../codecs/image/image.ts";
import { type FloatImage, ScaledImage } from "./scaled_image.ts";
import { type Pixels, type StoredPixels, valuesAs } from "./stored_pixels.ts";

export type { FloatImage };

/** Pixels as bytes or as real numbers. */
export type Picture = Image | FloatImage;

/** Class that a picture is stored in. */
export function storedPixels(picture: Picture): StoredPixels {
  return picture instanceof ScaledImage
    ? picture.stored()
    : valuesAs(picture.data);
}

/** A picture of the same kind and scale, of other pixels. */
export function withPixels<P extends Picture>(
  picture: P,
  pixels: Pixels,
  height: number,
  width: number,
): P {
  const { channels } = picture;
  if (!(picture instanceof ScaledImage)) {
    return { data: pixels, height, width, channels } as P;
  }
  const { factors, offsets } = picture.stored();
  const size = { height, width, channels };
  return new ScaledImage(size, { pixels, factors, offsets }) as unknown as P;
}

/** A row of memory of the same kind, filled with zeros. */
export function newPixels(like: Pixels, length: number): Pixels {
  return like instanceof Uint8Array
    ? new Uint8Array(length)
    : new Float32Array(length);
}

/**
 * Makes sure that a step was given a picture.
 *
 * @param step The name of the step.
 * @throws {TypeError} If it was given something else; the message says what to do about the order of
 * steps.
 */
export function assertPicture(
  value: Picture,
  step: string,
): void {
  if (value instanceof ScaledImage) return;
  const given: unknown = value;
  if (isPixels((given as Picture | undefined)?.data) && "channels" in value) {
    return assertImage(value as Image);
  }
  const problem = Array.isArray(given)
    ? `a list of frames: use the transform for clips (${step}Video, or AllFrames)`
    : ArrayBuffer.isView(given)
    ? "bytes: decode them first, with DecodeImage"
    : typeof given === "object" && given !== null && "shape" in given
    ? "an array: put what makes arrays of pictures (ToArray) last"
    : "something else";
  throw new TypeError(
    `${step} takes a picture {data, height, width, channels}, but was given ${problem}`,
  );
}

/**
 * Makes sure that a step was given pixels that are bytes.
 *
 * @throws {TypeError} If it was given something else.
 */
export function assertBytes(
  value: Picture,
  step: string,
): asserts value is Image {
  assertPicture(value, step);
  if (isBytes(value)) return;
  throw new TypeError(
    `${step} takes pixels that are bytes, but was given real numbers: put it before what makes ` +
      `them (Normalize, UnitNorm)`,
  );
}

/** Tells whether a picture's pixels are bytes. */
export function isBytes(picture: Picture): picture is Image {
  return !(picture instanceof ScaledImage) &&
    picture.data instanceof Uint8Array;
}

/** Tells whether a value is a picture. */
export function isPicture(value: unknown): value is Picture {
  if (value instanceof ScaledImage) return true;
  return typeof value === "object" && value !== null && "channels" in value &&
    "height" in value && "width" in value && "data" in value &&
    isPixels(value.data);
}

function isPixels(data: unknown): data is Pixels {
  return data instanceof Uint8Array || data instanceof Float32Array;
}
