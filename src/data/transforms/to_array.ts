import type { ValueArray } from "../../codecs/image/pixels/write_values.ts";
import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import {
  assertPicture,
  isBytes,
  isPicture,
  loadedPixels,
  type Picture,
  type StoredPixels,
  storedPixels,
  writeStored,
} from "./picture.ts";
import { ownArray, type TakeArray } from "./array_rows.ts";
import { newRecipe, PLAN, type SampleTransform } from "./transform.ts";

/** Axes of a clip's array, outermost first. */
const AXES = {
  "channels-first": ["frames", "channels", "height", "width"],
  "channels-last": ["frames", "height", "width", "channels"],
  "channels-outermost": ["channels", "frames", "height", "width"],
} as const;

type Layout = keyof typeof AXES;

const DTYPES = {
  float16: ["<f2", Float16Array],
  float32: ["<f4", Float32Array],
  uint8: ["|u1", Uint8Array],
} as const;

/** Converts a picture to an array; the last step, since it may move channels first. */
export class ToArray implements SampleTransform<Picture, NdArray> {
  readonly #options: CheckedOptions;

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is not one of its choices.
   */
  constructor(
    options: {
      /** Type of the elements. Defaults to `float32`. `uint8` requires pixels that are bytes. */
      readonly dtype?: "float16" | "float32" | "uint8" | undefined;
      /** Factor of the values: `1 / 255` gives values from 0 to 1. Defaults to 1. */
      readonly scale?: number | undefined;
      /**
       * `channels-first`, the default, gives the shape `[channels, height, width]`; `channels-last` gives
       * `[height, width, channels]`.
       */
      readonly layout?: "channels-first" | "channels-last" | undefined;
    } = {},
  ) {
    const layouts = ["channels-first", "channels-last"] as const;
    this.#options = checkedOptions(options, layouts, "ToArray");
  }

  /**
   * Converts a picture to an array.
   *
   * @throws {TypeError} If its values are real numbers and the elements bytes.
   */
  apply(picture: Picture): NdArray {
    return this.#plan(picture).made();
  }

  /** Returns an array that is written on demand, directly where it is needed. */
  [PLAN](picture: Picture): NdArray {
    return this.#plan(picture);
  }

  #plan(picture: Picture): PlannedArray {
    return plannedArray([picture], this.#options, "ToArray", 1);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArray, import.meta.url, [this.#options]);
  }
}

/** Converts the frames of a clip, which must have one size, to one array; the last step. */
export class ToArrayVideo
  implements SampleTransform<readonly Picture[], NdArray> {
  readonly #options: CheckedOptions;

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is not one of its choices.
   */
  constructor(
    options: {
      /** Type of the elements. Defaults to `float32`. `uint8` requires pixels that are bytes. */
      readonly dtype?: "float16" | "float32" | "uint8" | undefined;
      /** Factor of the values: `1 / 255` gives values from 0 to 1. Defaults to 1. */
      readonly scale?: number | undefined;
      /**
       * `channels-first`, the default, gives the shape `[frames, channels, height, width]`; `channels-last` gives
       * `[frames, height, width, channels]`; `channels-outermost`, for convolutions over time, gives
       * `[channels, frames, height, width]`.
       */
      readonly layout?:
        | "channels-first"
        | "channels-last"
        | "channels-outermost"
        | undefined;
    } = {},
  ) {
    const layouts = Object.keys(AXES) as Layout[];
    this.#options = checkedOptions(options, layouts, "ToArrayVideo");
  }

  /**
   * Converts a clip to an array.
   *
   * @throws {TypeError} If frames differ in size, or their values are real numbers and the elements bytes.
   */
  apply(frames: readonly Picture[]): NdArray {
    return this.#plan(frames).made();
  }

  /** Returns an array that is written on demand, directly where it is needed. */
  [PLAN](frames: readonly Picture[]): NdArray {
    return this.#plan(frames);
  }

  #plan(frames: readonly Picture[]): PlannedArray {
    return plannedArray(frames, this.#options, "ToArrayVideo", 0);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArrayVideo, import.meta.url, [this.#options]);
  }
}

interface CheckedOptions {
  readonly dtype: keyof typeof DTYPES;
  readonly scale: number;
  readonly layout: Layout;
}

/** @throws {TypeError} If the type or layout is unknown, or the type cannot hold scaled values. */
function checkedOptions(
  { dtype = "float32", scale = 1, layout = "channels-first" }: Partial<
    {
      readonly [Name in keyof CheckedOptions]: CheckedOptions[Name] | undefined;
    }
  >,
  layouts: readonly Layout[],
  step: string,
): CheckedOptions {
  if (!Object.hasOwn(DTYPES, dtype)) {
    throw new TypeError(
      `The dtype of ${step} must be float32, float16 or uint8, not ` +
        `${dtype}`,
    );
  }
  if (!Number.isFinite(scale) || dtype === "uint8" && scale !== 1) {
    throw new TypeError(
      `${step} cannot scale by ${scale}${
        dtype === "uint8" ? " to uint8: give a float dtype" : ": give a number"
      }`,
    );
  }
  if (layouts.includes(layout)) return { dtype, scale, layout };
  throw new TypeError(
    `The layout of ${step} must be ${layouts.join(" or ")}, not ` +
      `'${layout}'`,
  );
}

/** An array whose values are written on access, or directly where they are needed. */
export class PlannedArray implements NdArray {
  declare readonly data: ValueArray;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly #write: (take: TakeArray) => ValueArray;
  #made: ValueArray | undefined;

  constructor(
    { dtype, shape }: Omit<NdArray, "data">,
    write: (take: TakeArray) => ValueArray,
  ) {
    this.dtype = dtype;
    this.shape = shape;
    this.#write = write;
    // An own property: these are all that another thread receives.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.#made ??= this.#write(ownArray),
    });
  }

  /** Returns the array, in the given memory unless its values were accessed before. */
  made(take: TakeArray = ownArray): NdArray {
    const { dtype, shape } = this;
    return { dtype, shape, data: this.#made ?? this.#write(take) };
  }
}

/**
 * Plans an array of pictures of equal size, with the axes of the layout from number `from` on: 1 for a single
 * picture.
 */
function plannedArray(
  frames: readonly Picture[],
  options: CheckedOptions,
  step: string,
  from: 0 | 1,
): PlannedArray {
  if (frames.length === 0) {
    throw new TypeError(`${step} was given no frames: there is no size`);
  }
  const first = frames[0]!;
  assertPicture(first, step);
  const { height, width, channels } = first;
  const lengths = { frames: frames.length, height, width, channels };
  const strides: Record<keyof typeof lengths, number> = { ...lengths };
  const axes = AXES[options.layout];
  let length = 1;
  for (const axis of axes.toReversed()) {
    strides[axis] = length;
    length *= lengths[axis];
  }
  const [dtype, Data] = DTYPES[options.dtype];
  frames.forEach((picture, i) => {
    assertPicture(picture, step);
    assertAlike(picture, first, i);
    assertWritable(picture, options, step);
  });
  const shape = axes.map((axis) => lengths[axis]).slice(from);
  return new PlannedArray({ dtype, shape }, (take) => {
    const data = take(Data, length);
    frames.forEach((picture, i) => {
      // A short clip repeats its last frame: decode that one once.
      if (picture === frames[i + 1]) loadedPixels(picture);
      writeStored(scaledPixels(picture, options), channels, data, {
        start: i * strides.frames,
        pixel: strides.width,
        channel: strides.channels,
      });
    });
    return data;
  });
}

/** @throws {TypeError} If the picture has real numbers and the array's elements are bytes. */
function assertWritable(
  picture: Picture,
  { dtype }: CheckedOptions,
  step: string,
): void {
  if (dtype !== "uint8" || isBytes(picture)) return;
  throw new TypeError(
    `${step} cannot make bytes of real numbers: give dtype: "float32", or remove the step ` +
      "that makes them (Normalize, UnitNorm)",
  );
}

/** Returns a picture's stored pixels with the option `scale` applied to their scales. */
function scaledPixels(
  picture: Picture,
  { scale }: CheckedOptions,
): StoredPixels {
  const stored = storedPixels(picture);
  if (scale === 1) return stored;
  return {
    pixels: stored.pixels,
    factors: stored.factors.map((factor) => factor * scale),
    offsets: stored.offsets.map((offset) => offset * scale),
  };
}

function assertAlike(frame: Picture, first: Picture, index: number): void {
  const isAlike = frame.height === first.height &&
    frame.width === first.width && frame.channels === first.channels;
  if (isAlike) return;
  const shown = (one: Picture) =>
    `${one.height} × ${one.width} × ${one.channels}`;
  throw new TypeError(
    "Frames of a clip cannot be one array: the first is " +
      `${shown(first)}, number ${index} is ${shown(frame)}: give them one ` +
      "size and colour space",
  );
}

/** Converts a picture to an array `[height, width, channels]` and returns anything else as it is. */
export function finishImage(made: unknown): unknown {
  return isPicture(made) ? arrayOf(made) : made;
}

/** Returns a picture as an array `[height, width, channels]` that shares its memory. */
export function arrayOf(picture: Picture): NdArray {
  const { data, height, width, channels } = picture;
  const [dtype] = isBytes(picture) ? DTYPES.uint8 : DTYPES.float32;
  return { dtype, shape: [height, width, channels], data };
}
