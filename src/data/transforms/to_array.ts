import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import {
  type ArrayOptions,
  assertLayout,
  type CheckedArrayOptions,
  checkedArrayOptions,
  DTYPES,
  newValues,
  scaledPixels,
} from "./array_options.ts";
import { assertPicture, isBytes, isPicture, type Picture } from "./picture.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";
import { writeValues } from "./write_values.ts";

/** Order of values of {@linkcode ToArray}. */
export interface ToArrayOptions extends ArrayOptions {
  /**
   * `channels-first`, unless given, is the shape `[channels, height, width]`; `channels-last` is
   * `[height, width, channels]`.
   */
  readonly layout?: "channels-first" | "channels-last" | undefined;
}

const LAYOUTS = ["channels-first", "channels-last"] as const;

/** Makes an array of a picture: the last step, where channels go first. */
export class ToArray implements SampleTransform<Picture, NdArray> {
  readonly #options: CheckedArrayOptions;
  readonly #layout: (typeof LAYOUTS)[number];

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is none of its choices.
   */
  constructor({ layout = "channels-first", ...options }: ToArrayOptions = {}) {
    this.#options = checkedArrayOptions(options, "ToArray");
    assertLayout(layout, LAYOUTS, "ToArray");
    this.#layout = layout;
  }

  /**
   * Makes an array of a picture.
   *
   * @throws {TypeError} If its values are real numbers, and the elements bytes.
   */
  apply(picture: Picture): NdArray {
    assertPicture(picture, "ToArray");
    const { height, width, channels } = picture;
    const { dtype } = this.#options;
    const isFirst = this.#layout === "channels-first";
    const stored = scaledPixels(picture, this.#options, "ToArray");
    const data = newValues(dtype, stored.pixels.length);
    writeValues(stored, channels, data, {
      start: 0,
      pixel: isFirst ? 1 : channels,
      channel: isFirst ? height * width : 1,
    });
    const shape = isFirst
      ? [channels, height, width]
      : [height, width, channels];
    return { dtype: DTYPES[dtype], shape, data };
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArray, import.meta.url, [
      { ...this.#options, layout: this.#layout },
    ]);
  }
}

/** Data of samples: an array `[height, width, channels]` where a transform makes a picture. */
export type FinishedImage<Out> = Out extends Picture ? NdArray : Out;

/** Makes arrays of pictures, and leaves all else as it is. */
export function finishImage<Out>(made: Out): FinishedImage<Out> {
  return (isPicture(made) ? arrayOf(made) : made) as FinishedImage<Out>;
}

/** A picture as an array `[height, width, channels]` that shares its memory. */
export function arrayOf(picture: Picture): NdArray {
  const { data, height, width, channels } = picture;
  const dtype = isBytes(picture) ? DTYPES.uint8 : DTYPES.float32;
  return { dtype, shape: [height, width, channels], data };
}
