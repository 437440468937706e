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

/** An image with bytes or real numbers as pixels. */
export type Picture = Image | FloatImage;

/** An image with real numbers as pixels: the result of `Normalize` and `UnitNorm`. */
export interface FloatImage {
  /** Values, channels interleaved, rows from the top, without gaps. */
  readonly data: Float32Array<ArrayBuffer>;
  /** Height in pixels. */
  readonly height: number;
  /** Width in pixels. */
  readonly width: number;
  /** 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
}

/**
 * A {@linkcode FloatImage} that computes its values on access. Later steps work on its bytes, and a conversion to
 * an array reads them once.
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
    // An own property: these are all that another thread receives.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.#compute(),
    });
  }

  stored(): StoredPixels {
    return this.#stored;
  }

  /** Decodes the pixels in place: the encoded bytes may not exist later. */
  made(): this {
    this.#stored = loadedPixels(this);
    return this;
  }

  /** Computes the values. They replace the stored pixels, since callers may write to them. */
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
 * A picture's pixels, decoded or not, with a factor and an offset for each channel still to be applied, in this
 * order.
 */
export interface StoredPixels extends ChannelScales {
  readonly pixels: Pixels | PlannedImage;
}

function valuesAs(pixels: Pixels | PlannedImage): StoredPixels {
  return { pixels, factors: ONES, offsets: ZEROS };
}

const ONES = [1, 1, 1];
const ZEROS = [0, 0, 0];

/** Writes a picture's values in one pass over its pixels. */
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

/** Returns a picture's stored pixels with their scales. */
export function storedPixels(picture: Picture): StoredPixels {
  if (picture instanceof ScaledImage) return picture.stored();
  return valuesAs(picture instanceof PlannedImage ? picture : picture.data);
}

/** {@linkcode StoredPixels} that are decoded. */
export interface LoadedPixels extends ChannelScales {
  readonly pixels: Pixels;
}

/** Returns a picture's stored pixels with their scales, decoded. */
export function loadedPixels(picture: Picture): LoadedPixels {
  const { pixels, ...scales } = storedPixels(picture);
  return pixels instanceof PlannedImage
    ? { pixels: pixels.made().data, ...scales }
    : { pixels, ...scales };
}

/** Returns a picture of the same kind and scales with other pixels. */
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

/** Returns an array of the same class, filled with zeros. */
export function newPixels(like: Pixels, length: number): Pixels {
  const Values = like instanceof Uint8Array ? Uint8Array : Float32Array;
  return new Values(length);
}

/** @throws {TypeError} If a step was given anything but a picture. The message advises on the order of steps. */
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
    ? "an array: put the step that makes arrays (ToArray) last"
    : "something else";
  throw new TypeError(
    `${step} takes a picture {data, height, width, channels}, but was given ${problem}`,
  );
}

/** @throws {TypeError} If a step was given anything but a picture of bytes. */
export function assertBytes(
  value: Picture,
  step: string,
): asserts value is Image {
  assertPicture(value, step);
  if (isBytes(value)) return;
  throw new TypeError(
    `${step} takes pixels that are bytes, but was given real numbers: put it before the step ` +
      `that makes them (Normalize, UnitNorm)`,
  );
}

export function isBytes(picture: Picture): picture is Image {
  return picture instanceof PlannedImage ||
    !(picture instanceof ScaledImage) && picture.data instanceof Uint8Array;
}

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
