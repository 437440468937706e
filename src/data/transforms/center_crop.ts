import { RECIPE, type Recipe } from "../recipe.ts";
import { crop } from "./box.ts";
import { assertBytes, assertPicture, type Picture } from "./picture.ts";
import { resizeTo } from "./resize.ts";
import { type Size, sizeOf } from "./size.ts";
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

/** Python's `round(value / 2)`: halves go to the even neighbour. */
function halfEven(value: number): number {
  return value % 2 === 0 ? value / 2 : 2 * Math.round(value / 4);
}
