import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import type { Box } from "../../codecs/image/pixels/render.ts";
import type { Size } from "../../codecs/image/short_edge.ts";
import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import {
  type CheckedPadding,
  checkedPadding,
  pad,
  type PadOptions,
} from "./pad.ts";
import {
  assertBytes,
  assertPicture,
  newPixels,
  type Picture,
  storedPixels,
  withPixels,
} from "./picture.ts";
import { resizeTo, sizeOf } from "./resize.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/**
 * Cuts out the middle. An image that is smaller than that is enlarged before, as by `Scale` with the
 * same size.
 */
export class CenterCrop implements SampleTransform<Picture, Picture> {
  readonly #given: number | Size;
  readonly #size: Size;

  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   * @throws {RangeError} If it is no size.
   */
  constructor(size: number | Size) {
    this.#size = sizeOf(size, "CenterCrop");
    this.#given = typeof size === "number" ? size : this.#size;
  }

  /**
   * Cuts out the middle of a picture.
   *
   * @throws {TypeError} If it is no picture, or too small and no bytes.
   */
  apply<P extends Picture>(picture: P): P {
    assertPicture(picture, "CenterCrop");
    const { height, width } = this.#size;
    let from: Picture = picture;
    if (height > picture.height || width > picture.width) {
      assertBytes(from, "CenterCrop, of a picture that it must enlarge,");
      from = resizeTo(from, this.#given);
    }
    const top = halfEven(from.height - height);
    const left = halfEven(from.width - width);
    return crop(from, { top, left, height, width }) as P;
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, CenterCrop, import.meta.url, [this.#given]);
  }
}

/** {@linkcode CenterCrop} for all frames of a clip. */
export class CenterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   */
  constructor(size: number | Size) {
    super(new CenterCrop(size));
  }
}

/**
 * Cuts out a part at a random place. With padding, the place may reach into the border on all sides,
 * where GulpIO's never reaches the right and lower ones.
 */
export class RandomCrop implements SampleTransform<Picture, Picture> {
  readonly #size: Size;
  readonly #padding: CheckedPadding;

  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   * @param options The border that the picture gets before.
   * @throws {RangeError} If it is no size.
   */
  constructor(size: number | Size, options: PadOptions = {}) {
    this.#size = sizeOf(size, "RandomCrop");
    this.#padding = checkedPadding(options, "RandomCrop");
  }

  /**
   * Cuts a part out of a picture.
   *
   * @throws {RangeError} If the picture is smaller than the part.
   */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandomCrop");
    const padded = pad(picture, this.#padding);
    return crop(padded, randomBox(padded, this.#size, random, "RandomCrop"));
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandomCrop, import.meta.url, [
      this.#size,
      this.#padding,
    ]);
  }
}

/** {@linkcode RandomCrop} for all frames of a clip, at the same place. */
export class RandomCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   * @param options The border that frames get before.
   */
  constructor(size: number | Size, options?: PadOptions) {
    super(new RandomCrop(size, options));
  }
}

/**
 * Cuts out a part of random width and height, both chosen of a few, at a random place. Sizes differ
 * from sample to sample: resize afterwards what is to be one batch.
 */
export class JitterCrop implements SampleTransform<Picture, Picture> {
  readonly #sizes: readonly number[];
  readonly #padding: CheckedPadding;

  /**
   * Makes the transform.
   *
   * @param sampleSizes Widths, and heights, to choose of, in pixels.
   * @param options The border that the picture gets before.
   * @throws {RangeError} If there is no size, or one that is none.
   */
  constructor(
    sampleSizes: readonly number[] = [256, 224, 192, 168],
    options: PadOptions = {},
  ) {
    if (sampleSizes.length === 0) {
      throw new RangeError("JitterCrop has no sizes to choose of: give some");
    }
    this.#sizes = sampleSizes.map((size) => sizeOf(size, "JitterCrop").width);
    this.#padding = checkedPadding(options, "JitterCrop");
  }

  /**
   * Cuts a part out of a picture.
   *
   * @throws {RangeError} If the picture is smaller than the part.
   */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "JitterCrop");
    const width = this.#choose(random);
    const height = this.#choose(random);
    const padded = pad(picture, this.#padding);
    return crop(
      padded,
      randomBox(padded, { height, width }, random, "JitterCrop"),
    );
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, JitterCrop, import.meta.url, [
      this.#sizes,
      this.#padding,
    ]);
  }

  #choose(random: Random): number {
    return this.#sizes[random.int(this.#sizes.length)]!;
  }
}

/** {@linkcode JitterCrop} for all frames of a clip, of the same size and at the same place. */
export class JitterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param sampleSizes Widths, and heights, to choose of, in pixels.
   * @param options The border that frames get before.
   */
  constructor(sampleSizes?: readonly number[], options?: PadOptions) {
    super(new JitterCrop(sampleSizes, options));
  }
}

/** Python's `round(value / 2)`: halves go to the even neighbour. */
function halfEven(value: number): number {
  return value % 2 === 0 ? value / 2 : 2 * Math.round(value / 4);
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
  if (picture instanceof PlannedImage) {
    return picture.cropped({ top, left, height, width }) as Picture as P;
  }
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
