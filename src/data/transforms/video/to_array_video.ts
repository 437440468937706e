import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { RECIPE, type Recipe } from "../../recipe.ts";
import {
  type ArrayOptions,
  assertLayout,
  type CheckedArrayOptions,
  checkedArrayOptions,
  DTYPES,
  newValues,
  scaledPixels,
} from "../array_options.ts";
import { assertPicture, type Picture } from "../picture.ts";
import { newRecipe, type SampleTransform } from "../transform.ts";
import { writeValues } from "../write_values.ts";

/** Order of values of {@linkcode ToArrayVideo}. */
export interface ToArrayVideoOptions extends ArrayOptions {
  /**
   * `channels-first`, unless given, is the shape `[frames, channels, height, width]`; `channels-last`
   * is `[frames, height, width, channels]`; `channels-outermost`, for convolutions over time, is
   * `[channels, frames, height, width]`.
   */
  readonly layout?:
    | "channels-first"
    | "channels-last"
    | "channels-outermost"
    | undefined;
}

const LAYOUTS = [
  "channels-first",
  "channels-last",
  "channels-outermost",
] as const;

/** Where values of a clip go: how far it is from one frame, pixel and channel to the next. */
interface Plan {
  readonly shape: readonly number[];
  readonly frame: number;
  readonly pixel: number;
  readonly channel: number;
}

/** Makes one array of the frames of a clip, which have one size: the last step. */
export class ToArrayVideo
  implements SampleTransform<readonly Picture[], NdArray> {
  readonly #options: CheckedArrayOptions;
  readonly #layout: (typeof LAYOUTS)[number];

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is none of its choices.
   */
  constructor(
    { layout = "channels-first", ...options }: ToArrayVideoOptions = {},
  ) {
    this.#options = checkedArrayOptions(options, "ToArrayVideo");
    assertLayout(layout, LAYOUTS, "ToArrayVideo");
    this.#layout = layout;
  }

  /**
   * Makes an array of a clip.
   *
   * @throws {TypeError} If frames differ in size, or their values are real numbers and the elements
   * bytes.
   */
  apply(frames: readonly Picture[]): NdArray {
    const first = frames[0];
    if (first === undefined) {
      throw new TypeError("ToArrayVideo was given no frames: there is no size");
    }
    const { dtype } = this.#options;
    const { shape, frame, pixel, channel } = this.#plan(first, frames.length);
    const size = first.height * first.width * first.channels;
    const data = newValues(dtype, frames.length * size);
    frames.forEach((picture, i) => {
      assertPicture(picture, "ToArrayVideo");
      assertAlike(picture, first, i);
      const stored = scaledPixels(picture, this.#options, "ToArrayVideo");
      const start = i * frame;
      writeValues(stored, first.channels, data, { start, pixel, channel });
    });
    return { dtype: DTYPES[dtype], shape, data };
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArrayVideo, import.meta.url, [
      { ...this.#options, layout: this.#layout },
    ]);
  }

  #plan({ height, width, channels }: Picture, count: number): Plan {
    const area = height * width;
    switch (this.#layout) {
      case "channels-first": {
        const shape = [count, channels, height, width];
        return { shape, frame: area * channels, pixel: 1, channel: area };
      }
      case "channels-last": {
        const shape = [count, height, width, channels];
        return { shape, frame: area * channels, pixel: channels, channel: 1 };
      }
      case "channels-outermost": {
        const shape = [channels, count, height, width];
        return { shape, frame: area, pixel: 1, channel: count * area };
      }
    }
  }
}

function assertAlike(frame: Picture, first: Picture, index: number): void {
  const isAlike = frame.height === first.height &&
    frame.width === first.width && frame.channels === first.channels;
  if (isAlike) return;
  const shown = (one: Picture) =>
    `${one.height} × ${one.width} × ${one.channels}`;
  throw new TypeError(
    `Frames of a clip cannot be one array: the first is ${
      shown(first)
    }, number ${index} is ` +
      `${shown(frame)}: give them one size and colour space`,
  );
}
