import type {
  ArrayValue,
  Display,
  DisplayNumber,
} from "../../api/value_messages.ts";
import { number } from "../text.ts";

/** Array to draw, with the shape of `data`. */
export interface Drawn {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly data: ArrayLike<DisplayNumber>;
  /** Minimum and maximum of the whole array that this is part of. */
  readonly range?: readonly [min: number, max: number] | undefined;
}

export function drawnOf(value: ArrayValue): Drawn {
  const { shownShape, dtype, data } = value;
  return { shape: shownShape, dtype, data, range: wholeRange(value) };
}

function wholeRange(
  { min, max }: ArrayValue,
): readonly [number, number] | undefined {
  return min === null || max === null ? undefined : [min, max];
}

/** Converts a number for drawing; NaN if it is not one. */
export function numeric(value: DisplayNumber): number {
  return value === null ? NaN : Number(value);
}

export function numberText(value: DisplayNumber): string {
  return typeof value === "number" ? number(value) : String(value);
}

/** Returns the minimum and maximum of the finite numbers; `undefined` if there are none. */
export function rangeOf(
  data: ArrayLike<DisplayNumber>,
): readonly [number, number] | undefined {
  let [min, max] = [Infinity, -Infinity];
  for (let at = 0; at < data.length; at++) {
    const it = numeric(data[at]!);
    if (!Number.isFinite(it)) continue;
    if (it < min) min = it;
    if (it > max) max = it;
  }
  return min <= max ? [min, max] : undefined;
}

export type Drawing = "picture" | "map" | "curve" | "numbers";

export interface PictureAxes {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** Whether each channel is a separate plane. */
  readonly isFirst: boolean;
}

/** Returns the layout of an array that looks like pictures: rows and columns with up to four channels. */
export function pictureAxes(shape: readonly number[]): PictureAxes | undefined {
  if (shape.length < 2 || shape.length > 4) return undefined;
  const isChannels = (size: number) => size === 1 || size === 3 || size === 4;
  const [a, b, c] = shape.slice(-3) as [number, number, number?];
  if (c === undefined) return axes(1, a, b, 1, false);
  const count = shape.length === 4 ? shape[0]! : 1;
  if (isChannels(c) && a > LEAST_EDGE && b > LEAST_EDGE) {
    return axes(count, a, b, c, false);
  }
  if (isChannels(a)) return axes(count, b, c, a, true);
  return shape.length === 3 ? axes(a, b, c, 1, false) : undefined;
}

/** Arrays with shorter edges are treated as tables. */
const LEAST_EDGE = 4;

function axes(
  count: number,
  height: number,
  width: number,
  channels: number,
  isFirst: boolean,
): PictureAxes | undefined {
  return height > LEAST_EDGE && width > LEAST_EDGE && count > 0
    ? { count, height, width, channels, isFirst }
    : undefined;
}

/** Returns the ways an array can be drawn, the best first. */
export function drawingsOf({ shape, dtype, data }: Drawn): readonly Drawing[] {
  // Texts and non-finite numbers cannot be drawn.
  if (rangeOf(data) === undefined) return ["numbers"];
  const length = shape.reduce((all, size) => all * size, 1);
  if (length <= 1) return ["numbers"];
  const pictures = pictureAxes(shape);
  if (pictures !== undefined) {
    // Without channels, an array is likely a table, unless it is of bytes (gray levels).
    const hasChannels = shape.length > 3 ||
      shape.length === 3 && pictures.count === 1;
    return hasChannels || dtype === "uint8"
      ? ["picture", "map", "numbers"]
      : ["map", "picture", "numbers"];
  }
  if (shape.length === 1) return ["curve", "map", "numbers"];
  const isThin = shape.slice(0, -1).every((size) => size === 1);
  return isThin ? ["curve", "map", "numbers"] : ["map", "numbers"];
}

/** Returns the rows and columns of a plane, and the number of planes. */
export function planesOf(
  shape: readonly number[],
): { rows: number; columns: number; planes: number } {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const planes = shape.slice(0, -2).reduce((all, size) => all * size, 1);
  return { rows, columns, planes };
}

/** Returns a plane's indices along the leading axes. */
export function planeIndices(
  shape: readonly number[],
  plane: number,
): readonly number[] {
  const indices: number[] = [];
  for (const size of shape.slice(0, -2).toReversed()) {
    indices.unshift(plane % size);
    plane = Math.floor(plane / size);
  }
  return indices;
}

export function markerOf(
  value: Display,
): Readonly<Record<string, Display>> & { readonly $: string } | undefined {
  if (value === null || typeof value !== "object" || isList(value)) {
    return undefined;
  }
  return typeof value.$ === "string"
    ? value as Readonly<Record<string, Display>> & { readonly $: string }
    : undefined;
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isList(value: Display): value is readonly Display[] {
  return Array.isArray(value);
}
