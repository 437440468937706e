import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { flipHorizontal, flipVertical } from "./flip.ts";
import { assertPicture, type Picture } from "./picture.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Swaps left and right, or not: a coin decides. */
export class RandHorFlip implements SampleTransform<Picture, Picture> {
  readonly #probability: number;

  /**
   * Makes the transform.
   *
   * @param probability Of being flipped, from 0 to 1; 0.5 unless given.
   * @throws {RangeError} If it is none.
   */
  constructor(probability = 0.5) {
    this.#probability = checkedProbability(probability, "RandHorFlip");
  }

  /** Flips a picture, or not. */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandHorFlip");
    return random.float() < this.#probability
      ? flipHorizontal(picture)
      : picture;
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandHorFlip, import.meta.url, [this.#probability]);
  }
}

/** Swaps top and bottom, or not: a coin decides. */
export class RandVerFlip implements SampleTransform<Picture, Picture> {
  readonly #probability: number;

  /**
   * Makes the transform.
   *
   * @param probability Of being flipped, from 0 to 1; 0.5 unless given.
   * @throws {RangeError} If it is none.
   */
  constructor(probability = 0.5) {
    this.#probability = checkedProbability(probability, "RandVerFlip");
  }

  /** Flips a picture, or not. */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandVerFlip");
    return random.float() < this.#probability ? flipVertical(picture) : picture;
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandVerFlip, import.meta.url, [this.#probability]);
  }
}

function checkedProbability(probability: number, step: string): number {
  if (probability >= 0 && probability <= 1) return probability;
  throw new RangeError(
    `${step} cannot have the probability ${probability}: give a number from 0 to 1`,
  );
}
