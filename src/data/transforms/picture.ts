import { assertImage, type Image } from "../../codecs/image/image.ts";
import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import {
  type ChannelScales,
  type Pixels,
  type Strides,
  type ValueArray,
  writeValues,
} from "../../codecs/image/pixels/write_values.ts";
import type { Size } from "../../codecs/image/short_edge.ts";

/** Pixels as bytes or as real numbers. */
export type Picture = Image | FloatImage;

/** Pixels as real numbers: what `Normalize` and `UnitNorm` make of an {@linkcode Image}. */
export interface FloatImage {
  /** One value per channel, rows from the top, no gap between rows. */
  readonly data: Float32Array<ArrayBuffer>;
  /** Rows. */
  readonly height: number;
  /** Pixels in a row. */
  readonly width: number;
  /** 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
}

/**
 * A {@linkcode FloatImage} whose values are computed when somebody looks at them: steps that follow work
 * on the bytes, and what makes an array of it reads them once.
 */
export class ScaledImage implements FloatImage {
  declare readonly data: Float32Array<ArrayBuffer>;
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  #stored: StoredPixels;
  #computed: Float32Array<ArrayBuffer> | undefined;

  constructor(
    { height, width, channels }: Omit<FloatImage, "data">,
    stored: StoredPixels,
  ) {
    this.height = height;
    this.width = width;
    this.channels = channels;
    this.#stored = stored;
    // A property of its own: what is sent to another thread has these only.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.#compute(),
    });
  }

  /** Class that it is stored in. */
  stored(): StoredPixels {
    return this.#stored;
  }

  /** The same, with pixels that are there: what they are made of may be gone later. */
  made(): this {
    this.#stored = loadedPixels(this);
    return this;
  }

  /** From now on its values are what it is stored as, since they may be written to. */
  #compute(): Float32Array<ArrayBuffer> {
    if (this.#computed === undefined) {
      const { height, width, channels } = this;
      const values = new Float32Array(height * width * channels);
      writeStored(this.#stored, channels, values, {
        start: 0,
        pixel: channels,
        channel: 1,
      });
      this.#computed = values;
      this.#stored = valuesAs(values);
    }
    return this.#computed;
  }
}

/**
 * A picture's pixels, or how they are made, and what each channel is still to be multiplied by, and what is to be
 * added to it then.
 */
export interface StoredPixels extends ChannelScales {
  readonly pixels: Pixels | PlannedImage;
}

/** Pixels that are the picture's values. */
function valuesAs(pixels: Pixels | PlannedImage): StoredPixels {
  return { pixels, factors: ONES, offsets: ZEROS };
}

const ONES = [1, 1, 1];
const ZEROS = [0, 0, 0];

/** Writes a picture's values, in one pass over its pixels. */
export function writeStored(
  stored: StoredPixels,
  channels: 1 | 3,
  out: ValueArray,
  strides: Strides,
): void {
  const { pixels } = stored;
  if (pixels instanceof PlannedImage) pixels.write(stored, out, strides);
  else writeValues(pixels, channels, stored, out, strides);
}

/** Class that a picture is stored in. */
export function storedPixels(picture: Picture): StoredPixels {
  if (picture instanceof ScaledImage) return picture.stored();
  return valuesAs(picture instanceof PlannedImage ? picture : picture.data);
}

/** {@linkcode StoredPixels} that are there. */
export interface LoadedPixels extends ChannelScales {
  readonly pixels: Pixels;
}

/** How a picture is stored, its pixels made where nobody has looked at them. */
export function loadedPixels(picture: Picture): LoadedPixels {
  const { pixels, ...scales } = storedPixels(picture);
  return pixels instanceof PlannedImage
    ? { pixels: pixels.made().data, ...scales }
    : { pixels, ...scales };
}

/** A picture of the same kind and scale, of other pixels. */
export function withPixels<P extends Picture>(
  picture: P,
  pixels: Pixels | PlannedImage,
  { height, width }: Size,
): P {
  const { channels } = picture;
  if (!(picture instanceof ScaledImage)) {
    return (pixels instanceof PlannedImage
      ? pixels
      : { data: pixels, height, width, channels }) as Picture as P;
  }
  const { factors, offsets } = picture.stored();
  const size = { height, width, channels };
  return new ScaledImage(size, { pixels, factors, offsets }) as unknown as P;
}

/** A row of memory of the same kind, filled with zeros. */
export function newPixels(like: Pixels, length: number): Pixels {
  const Values = like instanceof Uint8Array ? Uint8Array : Float32Array;
  return new Values(length);
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
  if (value instanceof ScaledImage || value instanceof PlannedImage) return;
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
  return picture instanceof PlannedImage ||
    !(picture instanceof ScaledImage) && picture.data instanceof Uint8Array;
}

/** Tells whether a value is a picture. */
export function isPicture(value: unknown): value is Picture {
  if (value instanceof ScaledImage || value instanceof PlannedImage) {
    return true;
  }
  return typeof value === "object" && value !== null && "channels" in value &&
    "height" in value && "width" in value && "data" in value &&
    isPixels(value.data);
}

function isPixels(data: unknown): data is Pixels {
  return data instanceof Uint8Array || data instanceof Float32Array;
}
