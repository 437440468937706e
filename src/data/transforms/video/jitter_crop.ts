import type { Random } from "../../random/random.ts";
import { RECIPE, type Recipe } from "../../recipe.ts";
import { crop, randomBox } from "../box.ts";
import {
  type CheckedPadding,
  checkedPadding,
  pad,
  type PadOptions,
} from "../pad.ts";
import { assertPicture, type Picture } from "../picture.ts";
import { sizeOf } from "../size.ts";
import { newRecipe, type SampleTransform } from "../transform.ts";

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
