import { newPixels, type Picture } from "./picture.ts";

/** Width of a border, in pixels. */
export interface Padding {
  /** On the left. */
  readonly left: number;
  /** Above. */
  readonly top: number;
  /** On the right. */
  readonly right: number;
  /** Below. */
  readonly bottom: number;
}

/** Enlargement of a picture before a part is cut out. */
export interface PadOptions {
  /** Width of the border in pixels, of all sides or of each. Unless given, none. */
  readonly padding?: number | Padding | undefined;
  /**
   * What the border is made of: zeros (`constant`, unless given), the outermost pixels (`edge`), or the
   * picture mirrored at its outermost pixels (`reflect`). These are `BORDER_CONSTANT`,
   * `BORDER_REPLICATE` and `BORDER_REFLECT_101` of OpenCV.
   */
  readonly padMode?: "constant" | "edge" | "reflect" | undefined;
}

/** Options that were checked. */
export interface CheckedPadding {
  readonly padding: Padding;
  readonly padMode: "constant" | "edge" | "reflect";
}

const MODES: readonly unknown[] = ["constant", "edge", "reflect"];

/**
 * Checks what a step was given.
 *
 * @throws {RangeError} If the padding is none.
 * @throws {TypeError} If there is no such mode.
 */
export function checkedPadding(
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
      `${step} cannot have the padding ${
        JSON.stringify(padding)
      }: give a whole number of pixels, ` +
        "or {left, top, right, bottom}",
    );
  }
  if (!MODES.includes(padMode)) {
    throw new TypeError(
      `${step} has no padMode '${padMode}': give constant, edge or reflect`,
    );
  }
  return { padding: { left, top, right, bottom }, padMode };
}

/** Puts a border around a picture. */
export function pad<P extends Picture>(
  picture: P,
  { padding, padMode }: CheckedPadding,
): P {
  const { left, top, right, bottom } = padding;
  if (left + top + right + bottom === 0) return picture;
  const { data, channels } = picture; // zeros are zeros of the values: they are computed here
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

/** Which line each line of the padded picture is; -1 is none. */
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
