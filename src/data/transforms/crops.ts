import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import type { Box } from "../../codecs/image/pixels/render.ts";
import type { Size } from "../../codecs/image/short_edge.ts";
import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import {
  assertBytes,
  assertPicture,
  newPixels,
  type Picture,
  storedPixels,
  withPixels,
} from "./picture.ts";
import { resizeTo, sizeOf } from "./resize.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Cuts out the centre. A smaller image is first enlarged, as by `Scale` with the same size. */
export class CenterCrop implements SampleTransform<Picture, Picture> {
  readonly #given: number | Size;
  readonly #size: Size;

  /**
   * Makes the transform.
   *
   * @param size Size of the part; a number is the edge of a square, in pixels.
   * @throws {RangeError} If the size is invalid.
   */
  constructor(size: number | Size) {
    this.#size = sizeOf(size, "CenterCrop");
    this.#given = typeof size === "number" ? size : this.#size;
  }

  /**
   * Cuts out the centre of a picture.
   *
   * @throws {TypeError} If the value is not a picture, or is too small and not of bytes.
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

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, CenterCrop, import.meta.url, [this.#given]);
  }
}

/** {@linkcode CenterCrop} for all frames of a clip. */
export class CenterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size Size of the part; a number is the edge of a square, in pixels.
   */
  constructor(size: number | Size) {
    super(new CenterCrop(size));
  }
}

/**
 * Cuts out a part at a random position. With padding, the position may reach into the border on all sides; in
 * GulpIO it never reaches the right and lower borders.
 */
export class RandomCrop implements SampleTransform<Picture, Picture> {
  readonly #args: readonly [size: Size, padding: CheckedPadding];

  /**
   * Makes the transform.
   *
   * @param size Size of the part; a number is the edge of a square, in pixels.
   * @param options Border to add first.
   * @throws {RangeError} If the size or the padding is invalid.
   */
  constructor(size: number | Size, options: PadOptions = {}) {
    this.#args = [
      sizeOf(size, "RandomCrop"),
      checkedPadding(options, "RandomCrop"),
    ];
  }

  /**
   * Cuts a part out of a picture.
   *
   * @throws {RangeError} If the picture is smaller than the part.
   */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "RandomCrop");
    const [size, padding] = this.#args;
    const padded = pad(picture, padding);
    return crop(padded, randomBox(padded, size, random, "RandomCrop"));
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandomCrop, import.meta.url, this.#args);
  }
}

/** {@linkcode RandomCrop} for all frames of a clip, at the same position. */
export class RandomCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size Size of the part; a number is the edge of a square, in pixels.
   * @param options Border to add to frames first.
   */
  constructor(size: number | Size, options?: PadOptions) {
    super(new RandomCrop(size, options));
  }
}

/**
 * Cuts out a part of random width and height, each one of a few sizes, at a random position. Sizes differ between
 * samples: resize them afterwards to stack them in a batch.
 */
export class JitterCrop implements SampleTransform<Picture, Picture> {
  readonly #args: readonly [sizes: readonly number[], padding: CheckedPadding];

  /**
   * Makes the transform.
   *
   * @param sampleSizes Possible widths and heights, in pixels.
   * @param options Border to add first.
   * @throws {RangeError} If there is no size, or a size or the padding is invalid.
   */
  constructor(
    sampleSizes: readonly number[] = [256, 224, 192, 168],
    options: PadOptions = {},
  ) {
    if (sampleSizes.length === 0) {
      throw new RangeError("JitterCrop needs at least one size");
    }
    this.#args = [
      sampleSizes.map((size) => sizeOf(size, "JitterCrop").width),
      checkedPadding(options, "JitterCrop"),
    ];
  }

  /**
   * Cuts a part out of a picture.
   *
   * @throws {RangeError} If the picture is smaller than the part.
   */
  apply<P extends Picture>(picture: P, random: Random): P {
    assertPicture(picture, "JitterCrop");
    const [sizes, padding] = this.#args;
    const width = sizes[random.int(sizes.length)]!;
    const height = sizes[random.int(sizes.length)]!;
    const padded = pad(picture, padding);
    const size = { height, width };
    return crop(padded, randomBox(padded, size, random, "JitterCrop"));
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, JitterCrop, import.meta.url, this.#args);
  }
}

/** {@linkcode JitterCrop} for all frames of a clip, with the same size and position. */
export class JitterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param sampleSizes Possible widths and heights, in pixels.
   * @param options Border to add to frames first.
   */
  constructor(sampleSizes?: readonly number[], options?: PadOptions) {
    super(new JitterCrop(sampleSizes, options));
  }
}

/** Returns Python's `round(value / 2)`, which rounds halves to the even neighbour. */
function halfEven(value: number): number {
  return value % 2 === 0 ? value / 2 : 2 * Math.round(value / 4);
}

/**
 * Returns a box of a given size at a uniformly random position inside a picture.
 *
 * @throws {RangeError} If the picture is smaller than the box.
 */
export function randomBox(
  picture: Size,
  { height, width }: Size,
  random: Random,
  step: string,
): Box {
  if (height > picture.height || width > picture.width) {
    throw new RangeError(
      `${step} cannot cut ${width} × ${height} pixels out of ${picture.width} × ` +
        `${picture.height}: scale before it (Scale), or give it padding`,
    );
  }
  const left = random.int(picture.width - width + 1);
  const top = random.int(picture.height - height + 1);
  return { top, left, height, width };
}

/** Crops a picture to a box inside it. */
export function crop<P extends Picture>(
  picture: P,
  { top, left, height, width }: Box,
): P {
  if (height === picture.height && width === picture.width) return picture;
  const { pixels } = storedPixels(picture);
  if (pixels instanceof PlannedImage) {
    const part = pixels.cropped({ top, left, height, width });
    return withPixels(picture, part, part);
  }
  const { channels } = picture;
  const stride = picture.width * channels;
  const row = width * channels;
  const out = newPixels(pixels, height * row);
  let from = top * stride + left * channels;
  for (let to = 0; to < out.length; to += row, from += stride) {
    out.set(pixels.subarray(from, from + row), to);
  }
  return withPixels(picture, out, { height, width });
}

/** Border to add before a part is cut out. */
export interface PadOptions {
  /** Width of the border in pixels, for all sides or each. Defaults to 0. */
  readonly padding?: number | {
    /** On the left. */
    readonly left: number;
    /** Above. */
    readonly top: number;
    /** On the right. */
    readonly right: number;
    /** Below. */
    readonly bottom: number;
  } | undefined;
  /**
   * Content of the border: zeros (`constant`, the default), the outermost pixels (`edge`), or the picture mirrored
   * at its outermost pixels (`reflect`). In OpenCV these are `BORDER_CONSTANT`, `BORDER_REPLICATE` and
   * `BORDER_REFLECT_101`.
   */
  readonly padMode?: "constant" | "edge" | "reflect" | undefined;
}

interface CheckedPadding {
  readonly padding: Exclude<PadOptions["padding"], number | undefined>;
  readonly padMode: NonNullable<PadOptions["padMode"]>;
}

const MODES: readonly unknown[] = ["constant", "edge", "reflect"];

/**
 * @throws {RangeError} If the padding is invalid.
 * @throws {TypeError} If the mode is unknown.
 */
function checkedPadding(
  { padding = 0, padMode = "constant" }: PadOptions,
  step: string,
): CheckedPadding {
  const { left, top, right, bottom } = typeof padding === "number"
    ? { left: padding, top: padding, right: padding, bottom: padding }
    : padding;
  const isFine = [left, top, right, bottom].every((width) =>
    Number.isSafeInteger(width) && width >= 0 && width < 2 ** 16
  );
  if (!isFine) {
    throw new RangeError(
      `The padding of ${step} must be a whole number of pixels, or {left, ` +
        `top, right, bottom}, not ${JSON.stringify(padding)}`,
    );
  }
  if (!MODES.includes(padMode)) {
    throw new TypeError(
      `The padMode of ${step} must be constant, edge or reflect, not ` +
        `'${padMode}'`,
    );
  }
  return { padding: { left, top, right, bottom }, padMode };
}

function pad<P extends Picture>(
  picture: P,
  { padding, padMode }: CheckedPadding,
): P {
  const { left, top, right, bottom } = padding;
  if (left + top + right + bottom === 0) return picture;
  const { data, channels } = picture; // computed values: the border's zeros are not scaled
  const rows = sourceOf(picture.height, top, bottom, padMode);
  const columns = sourceOf(picture.width, left, right, padMode);
  const out = newPixels(data, rows.length * columns.length * channels);
  let to = 0;
  for (const row of rows) {
    for (const column of columns) {
      const from = row < 0 || column < 0
        ? -1
        : (row * picture.width + column) * channels;
      for (let c = 0; c < channels; c++, to++) {
        if (from >= 0) out[to] = data[from + c]!;
      }
    }
  }
  const [height, width] = [rows.length, columns.length];
  return { data: out, height, width, channels } as P;
}

/** Maps each line of the padded picture to one of the picture; -1 is none. */
function sourceOf(
  length: number,
  before: number,
  after: number,
  mode: CheckedPadding["padMode"],
): Int32Array {
  const period = Math.max(2 * (length - 1), 1);
  return Int32Array.from({ length: before + length + after }, (_, i) => {
    const at = i - before;
    if (at >= 0 && at < length) return at;
    if (mode === "constant") return -1;
    if (mode === "edge") return at < 0 ? 0 : length - 1;
    const folded = (at % period + period) % period;
    return folded < length ? folded : period - folded;
  });
}
