import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import {
  assertPicture,
  loadedPixels,
  newPixels,
  type Picture,
  storedPixels,
  withPixels,
} from "./picture.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Swaps left and right at random. */
export class RandHorFlip implements SampleTransform<Picture, Picture> {
  readonly #probability: number;

  /**
   * Makes the transform.
   *
   * @param probability Probability of a flip, from 0 to 1. Defaults to 0.5.
   * @throws {RangeError} If the probability is out of range.
   */
  constructor(probability = 0.5) {
    this.#probability = checkedProbability(probability, "RandHorFlip");
  }

  /** Flips a picture at random. */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandHorFlip");
    return random.float() < this.#probability
      ? flipHorizontal(picture)
      : picture;
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandHorFlip, import.meta.url, [this.#probability]);
  }
}

/** {@linkcode RandHorFlip} for all frames of a clip, or none. */
export class RandHorFlipVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param probability Probability of a flip, from 0 to 1. Defaults to 0.5.
   */
  constructor(probability?: number) {
    super(new RandHorFlip(probability));
  }
}

/** Swaps top and bottom at random. */
export class RandVerFlip implements SampleTransform<Picture, Picture> {
  readonly #probability: number;

  /**
   * Makes the transform.
   *
   * @param probability Probability of a flip, from 0 to 1. Defaults to 0.5.
   * @throws {RangeError} If the probability is out of range.
   */
  constructor(probability = 0.5) {
    this.#probability = checkedProbability(probability, "RandVerFlip");
  }

  /** Flips a picture at random. */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandVerFlip");
    return random.float() < this.#probability ? flipVertical(picture) : picture;
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandVerFlip, import.meta.url, [this.#probability]);
  }
}

/** {@linkcode RandVerFlip} for all frames of a clip, or none. */
export class RandVerFlipVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param probability Probability of a flip, from 0 to 1. Defaults to 0.5.
   */
  constructor(probability?: number) {
    super(new RandVerFlip(probability));
  }
}

function checkedProbability(probability: number, step: string): number {
  if (probability >= 0 && probability <= 1) return probability;
  throw new RangeError(
    `The probability of ${step} must be a number from 0 to 1, not ` +
      `${probability}`,
  );
}

function flipHorizontal<P extends Picture>(picture: P): P {
  const { width, channels } = picture;
  const { pixels } = storedPixels(picture);
  if (pixels instanceof PlannedImage) {
    return withPixels(picture, pixels.flipped(), picture);
  }
  const out = newPixels(pixels, pixels.length);
  const row = width * channels;
  for (let start = 0; start < out.length; start += row) {
    let from = start + row - channels;
    for (let to = start; to < start + row; to += channels, from -= channels) {
      for (let c = 0; c < channels; c++) out[to + c] = pixels[from + c]!;
    }
  }
  return withPixels(picture, out, picture);
}

function flipVertical<P extends Picture>(picture: P): P {
  const { width, channels } = picture;
  const { pixels } = loadedPixels(picture);
  const out = newPixels(pixels, pixels.length);
  const row = width * channels;
  let from = pixels.length - row;
  for (let to = 0; to < out.length; to += row, from -= row) {
    out.set(pixels.subarray(from, from + row), to);
  }
  return withPixels(picture, out, picture);
}
