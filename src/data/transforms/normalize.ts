import { RECIPE, type Recipe } from "../recipe.ts";
import {
  assertPicture,
  type FloatImage,
  type Picture,
  storedPixels,
} from "./picture.ts";
import { ScaledImage } from "./scaled_image.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Term that GulpIO adds to a standard deviation, so that 0 is no divisor. */
export const EPSILON = 1e-8;

/** Options of {@linkcode Normalize}. */
export interface NormalizeOptions {
  /**
   * What values are multiplied by first. Unless given, 1, as GulpIO has it; `1 / 255` for a mean and a
   * standard deviation of values from 0 to 1, as torchvision has them.
   */
  readonly scale?: number | undefined;
}

/**
 * Subtracts a mean from each channel, and divides by a standard deviation:
 * `(value × scale - mean) / (std + 1e-8)`.
 */
export class Normalize implements SampleTransform<Picture, FloatImage> {
  readonly #mean: readonly number[];
  readonly #std: readonly number[];
  readonly #scale: number;

  /**
   * Makes the transform.
   *
   * @param mean One for each channel, or one for all.
   * @param std Standard deviations: one for each channel, or one for all.
   * @throws {RangeError} If they are none.
   */
  constructor(
    mean: number | readonly number[],
    std: number | readonly number[],
    { scale = 1 }: NormalizeOptions = {},
  ) {
    this.#mean = perChannel(mean, "mean", -Infinity);
    this.#std = perChannel(std, "std", 0);
    this.#scale = perChannel(scale, "scale", -Infinity)[0]!;
  }

  /**
   * Normalizes a picture.
   *
   * @throws {TypeError} If it has another number of channels than there are means.
   */
  apply(picture: Picture): FloatImage {
    assertPicture(picture, "Normalize");
    const { channels } = picture;
    const mean = forChannels(this.#mean, channels, "means");
    const std = forChannels(this.#std, channels, "standard deviations");
    const { pixels, factors, offsets } = storedPixels(picture);
    const divisors = std.map((value) => value + EPSILON);
    return new ScaledImage(picture, {
      pixels,
      factors: divisors.map((by, c) => factors[c]! * this.#scale / by),
      offsets: divisors.map((by, c) =>
        (offsets[c]! * this.#scale - mean[c]!) / by
      ),
    });
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, Normalize, import.meta.url, [
      this.#mean,
      this.#std,
      { scale: this.#scale },
    ]);
  }
}

function perChannel(
  value: number | readonly number[],
  what: string,
  least: number,
): readonly number[] {
  const values = typeof value === "number" ? [value] : [...value];
  const isFine = (values.length === 1 || values.length === 3) &&
    values.every((one) => Number.isFinite(one) && one >= least);
  if (isFine) return values;
  throw new RangeError(
    `Normalize cannot have the ${what} ${
      JSON.stringify(value)
    }: give a number, or one for each of ` +
      "the 3 channels",
  );
}

function forChannels(
  values: readonly number[],
  channels: 1 | 3,
  what: string,
): readonly number[] {
  if (values.length === channels) return values;
  if (values.length === 1) return [values[0]!, values[0]!, values[0]!];
  throw new TypeError(
    `Normalize has ${values.length} ${what}, but was given a gray picture: decode images as RGB ` +
      "(colorspace), or give one of each",
  );
}
