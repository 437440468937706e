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

/** Types of elements of an array. */
export type ArrayDtype = "float16" | "float32" | "uint8";

/** Options of both {@linkcode ToArray} and {@linkcode ToArrayVideo}. */
export interface ArrayOptions {
  /** Type of the elements; `float32` unless given. `uint8` is for pixels that are bytes. */
  readonly dtype?: ArrayDtype | undefined;
  /** Factor of values: `1 / 255` gives values from 0 to 1. Unless given, 1. */
  readonly scale?: number | undefined;
}

/** Order of values of {@linkcode ToArray}. */
export interface ToArrayOptions extends ArrayOptions {
  /**
   * `channels-first`, unless given, is the shape `[channels, height, width]`; `channels-last` is
   * `[height, width, channels]`.
   */
  readonly layout?: "channels-first" | "channels-last" | undefined;
}

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

/** Axes of a clip's array, the outermost first. */
const AXES = {
  "channels-first": ["frames", "channels", "height", "width"],
  "channels-last": ["frames", "height", "width", "channels"],
  "channels-outermost": ["channels", "frames", "height", "width"],
} as const;

type Layout = keyof typeof AXES;

/** NumPy's names of types, and what holds their elements. */
const DTYPES = {
  float16: ["<f2", Float16Array],
  float32: ["<f4", Float32Array],
  uint8: ["|u1", Uint8Array],
} as const;

/** Makes an array of a picture: the last step, where channels go first. */
export class ToArray implements SampleTransform<Picture, NdArray> {
  readonly #options: CheckedOptions;

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is none of its choices.
   */
  constructor(options: ToArrayOptions = {}) {
    const layouts = ["channels-first", "channels-last"] as const;
    this.#options = checkedOptions(options, layouts, "ToArray");
  }

  /**
   * Makes an array of a picture.
   *
   * @throws {TypeError} If its values are real numbers, and the elements bytes.
   */
  apply(picture: Picture): NdArray {
    return this.#plan(picture).made();
  }

  /** An array that is written where it is wanted. */
  [PLAN](picture: Picture): NdArray {
    return this.#plan(picture);
  }

  #plan(picture: Picture): PlannedArray {
    return plannedArray([picture], this.#options, "ToArray", 1);
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArray, import.meta.url, [this.#options]);
  }
}

/** Makes one array of the frames of a clip, which have one size: the last step. */
export class ToArrayVideo
  implements SampleTransform<readonly Picture[], NdArray> {
  readonly #options: CheckedOptions;

  /**
   * Makes the transform.
   *
   * @throws {TypeError} If an option is none of its choices.
   */
  constructor(options: ToArrayVideoOptions = {}) {
    const layouts = Object.keys(AXES) as Layout[];
    this.#options = checkedOptions(options, layouts, "ToArrayVideo");
  }

  /**
   * Makes an array of a clip.
   *
   * @throws {TypeError} If frames differ in size, or their values are real numbers and the elements
   * bytes.
   */
  apply(frames: readonly Picture[]): NdArray {
    return this.#plan(frames).made();
  }

  /** An array that is written where it is wanted. */
  [PLAN](frames: readonly Picture[]): NdArray {
    return this.#plan(frames);
  }

  #plan(frames: readonly Picture[]): PlannedArray {
    return plannedArray(frames, this.#options, "ToArrayVideo", 0);
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, ToArrayVideo, import.meta.url, [this.#options]);
  }
}

interface CheckedOptions {
  readonly dtype: ArrayDtype;
  readonly scale: number;
  readonly layout: Layout;
}

/**
 * Checks what a step was given.
 *
 * @param layouts Those that it has.
 * @throws {TypeError} If there is no such type or layout, or the type cannot hold what is scaled.
 */
function checkedOptions(
  { dtype = "float32", scale = 1, layout = "channels-first" }:
    ToArrayVideoOptions,
  layouts: readonly Layout[],
  step: string,
): CheckedOptions {
  if (!Object.hasOwn(DTYPES, dtype)) {
    throw new TypeError(
      `${step} makes no arrays of ${dtype}: give float32, float16 or uint8`,
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
    `${step} has no layout '${layout}': give ${layouts.join(" or ")}`,
  );
}

/** An array whose values are written when somebody looks at them, or where they are wanted. */
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
    // A property of its own: what is sent to another thread has these only.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.#made ??= this.#write(ownArray),
    });
  }

  /** The array itself; in the memory that is given, unless somebody has looked at it. */
  made(take: TakeArray = ownArray): NdArray {
    const { dtype, shape } = this;
    return { dtype, shape, data: this.#made ?? this.#write(take) };
  }
}

/**
 * The values of pictures of one size, in an array whose axes lie as the layout says.
 *
 * @param from The first of these axes: 1 for a picture alone.
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
      // A short clip ends in the same frame again and again: that one is decoded once.
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

/**
 * Makes sure that an array can have a picture's values.
 *
 * @throws {TypeError} If they are real numbers, and its elements bytes.
 */
function assertWritable(
  picture: Picture,
  { dtype }: CheckedOptions,
  step: string,
): void {
  if (dtype !== "uint8" || isBytes(picture)) return;
  throw new TypeError(
    `${step} cannot make bytes of real numbers: give dtype: "float32", or leave out what makes ` +
      "them (Normalize, UnitNorm)",
  );
}

/** What is to be written of a picture. */
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
    `Frames of a clip cannot be one array: the first is ${
      shown(first)
    }, number ${index} is ` +
      `${shown(frame)}: give them one size and colour space`,
  );
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
  const [dtype] = isBytes(picture) ? DTYPES.uint8 : DTYPES.float32;
  return { dtype, shape: [height, width, channels], data };
}
