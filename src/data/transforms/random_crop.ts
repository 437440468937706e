import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { crop, randomBox } from "./box.ts";
import {
  type CheckedPadding,
  checkedPadding,
  pad,
  type PadOptions,
} from "./pad.ts";
import { assertPicture, type Picture } from "./picture.ts";
import { type Size, sizeOf } from "./size.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

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
