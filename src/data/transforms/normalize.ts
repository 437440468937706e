import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import {
  assertPicture,
  type FloatImage,
  type LoadedPixels,
  loadedPixels,
  type Picture,
  ScaledImage,
  storedPixels,
} from "./picture.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Term that GulpIO adds to a standard deviation, to avoid division by 0. */
const EPSILON = 1e-8;

/**
 * Subtracts a mean from each channel and divides by a standard deviation: `(value × scale - mean) / (std + 1e-8)`.
 */
export class Normalize implements SampleTransform<Picture, FloatImage> {
  readonly #args: readonly [
    mean: readonly number[],
    std: readonly number[],
    options: { readonly scale: number },
  ];

  /**
   * Makes the transform.
   *
   * @param mean Mean of each channel, or one for all.
   * @param std Standard deviation of each channel, or one for all.
   * @throws {RangeError} If a value is invalid, or there are neither 1 nor 3.
   */
  constructor(
    mean: number | readonly number[],
    std: number | readonly number[],
    { scale = 1 }: {
      /**
       * Factor of the values, applied first. Defaults to 1, as in GulpIO; use `1 / 255` for a mean and a standard
       * deviation of values from 0 to 1, as in torchvision.
       */
      readonly scale?: number | undefined;
    } = {},
  ) {
    this.#args = [
      perChannel(mean, "mean", -Infinity),
      perChannel(std, "std", 0),
      { scale: perChannel(scale, "scale", -Infinity)[0]! },
    ];
  }

  /**
   * Normalizes a picture.
   *
   * @throws {TypeError} If there are more means or standard deviations than channels.
   */
  apply(picture: Picture): FloatImage {
    assertPicture(picture, "Normalize");
    const { channels } = picture;
    const [means, stds, { scale }] = this.#args;
    const mean = forChannels(means, channels, "means");
    const divisors = forChannels(stds, channels, "standard deviations")
      .map((std) => std + EPSILON);
    const { pixels, factors, offsets } = storedPixels(picture);
    return new ScaledImage(picture, {
      pixels,
      factors: divisors.map((by, c) => factors[c]! * scale / by),
      offsets: divisors.map((by, c) => (offsets[c]! * scale - mean[c]!) / by),
    });
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, Normalize, import.meta.url, this.#args);
  }
}

/** {@linkcode Normalize} for all frames of a clip. */
export class NormalizeVideo extends AllFrames<Picture, FloatImage> {
  /**
   * Makes the transform.
   *
   * @param mean Mean of each channel, or one for all.
   * @param std Standard deviation of each channel, or one for all.
   * @param options Factor of the values.
   */
  constructor(
    mean: number | readonly number[],
    std: number | readonly number[],
    options?: ConstructorParameters<typeof Normalize>[2],
  ) {
    super(new Normalize(mean, std, options));
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
    `The ${what} of Normalize must be a number, or one for each of the ` +
      `3 channels, not ${JSON.stringify(value)}`,
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

/**
 * Normalizes each picture to mean 0 and standard deviation 1, over all its pixels and channels:
 * `(value - mean) / (std + 1e-8)`.
 */
export class UnitNorm implements SampleTransform<Picture, FloatImage> {
  /** Normalizes a picture. */
  apply(picture: Picture): FloatImage {
    assertPicture(picture, "UnitNorm");
    return unitNorm([picture])[0]!;
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, UnitNorm, import.meta.url, []);
  }
}

/** Normalizes a clip to mean 0 and standard deviation 1, over all its frames together. */
export class UnitNormVideo
  implements SampleTransform<readonly Picture[], FloatImage[]> {
  /** Normalizes a clip. */
  apply(frames: readonly Picture[]): FloatImage[] {
    for (const frame of frames) assertPicture(frame, "UnitNormVideo");
    return unitNorm(frames);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, UnitNormVideo, import.meta.url, []);
  }
}

/** Normalizes pictures by their common mean and standard deviation. */
function unitNorm(pictures: readonly Picture[]): FloatImage[] {
  const stored = pictures.map(loadedPixels);
  let count = 0;
  let total = 0;
  stored.forEach((one, i) => {
    count += one.pixels.length;
    total += sumOf(one, pictures[i]!.channels);
  });
  const mean = total / count;
  let squares = 0;
  stored.forEach((one, i) => {
    squares += squaresOf(one, pictures[i]!.channels, mean);
  });
  const divisor = Math.sqrt(squares / count) + EPSILON;
  return stored.map(({ pixels, factors, offsets }, i) =>
    new ScaledImage(pictures[i]!, {
      pixels,
      factors: factors.map((factor) => factor / divisor),
      offsets: offsets.map((offset) => (offset - mean) / divisor),
    })
  );
}

function sumOf(
  { pixels, factors, offsets }: LoadedPixels,
  channels: 1 | 3,
): number {
  let total = 0;
  for (let c = 0; c < channels; c++) {
    let sum = 0;
    for (let i = c; i < pixels.length; i += channels) sum += pixels[i]!;
    total += sum * factors[c]! + pixels.length / channels * offsets[c]!;
  }
  return total;
}

/** Returns the sum of the squared deviations of a picture's values from `mean`. */
function squaresOf(
  { pixels, factors, offsets }: LoadedPixels,
  channels: 1 | 3,
  mean: number,
): number {
  let total = 0;
  for (let c = 0; c < channels; c++) {
    const factor = factors[c]!;
    const offset = offsets[c]! - mean;
    for (let i = c; i < pixels.length; i += channels) {
      const distance = pixels[i]! * factor + offset;
      total += distance * distance;
    }
  }
  return total;
}
