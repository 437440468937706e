/** Numbers of arrays as the server sends them. */
import type {
  ArrayValue,
  Display,
  DisplayNumber,
} from "../../api/value_messages.ts";
import { number } from "../text.ts";

/** What is drawn of an array: its shape is that of `data`. */
export interface Drawn {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly data: ArrayLike<DisplayNumber>;
  /** The least and the greatest number of the whole that it is a part of. */
  readonly range?: readonly [min: number, max: number] | undefined;
}

/** The part of an array's value that is drawn. */
export function drawnOf(value: ArrayValue): Drawn {
  const { shownShape, dtype, data } = value;
  return { shape: shownShape, dtype, data, range: wholeRange(value) };
}

/** The least and the greatest number of an array. */
function wholeRange(
  { min, max }: ArrayValue,
): readonly [number, number] | undefined {
  return min === null || max === null ? undefined : [min, max];
}

/** A number to draw by: NaN where it is none. */
export function numeric(value: DisplayNumber): number {
  return value === null ? NaN : Number(value);
}

/** A number to be read. */
export function numberText(value: DisplayNumber): string {
  return typeof value === "number" ? number(value) : String(value);
}

/** The least and the greatest of finite numbers; `undefined` where there is none. */
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

/** How an array may be drawn. */
export type Drawing = "picture" | "map" | "curve" | "numbers";

/** Pictures in an array. */
export interface PictureAxes {
  /** How many there are, one after the other. */
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** Whether each channel is a plane of its own. */
  readonly isFirst: boolean;
}

/** Axes of pictures in an array, or `undefined` if it looks like none: rows and columns with up to four channels. */
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

/** Shorter edges are those of a table. */
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

/** The ways an array can be drawn, the one that suits best first. */
export function drawingsOf({ shape, dtype, data }: Drawn): readonly Drawing[] {
  // Of texts, and where no number is finite, there is nothing to draw.
  if (rangeOf(data) === undefined) return ["numbers"];
  const length = shape.reduce((all, size) => all * size, 1);
  if (length <= 1) return ["numbers"];
  const pictures = pictureAxes(shape);
  if (pictures !== undefined) {
    // Without channels, only bytes are more likely gray levels than a table.
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

/** Rows, columns, and how many such planes there are. */
export function planesOf(
  shape: readonly number[],
): { rows: number; columns: number; planes: number } {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const planes = shape.slice(0, -2).reduce((all, size) => all * size, 1);
  return { rows, columns, planes };
}

/** Which indices of the leading axes a plane stands at. */
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

/** The marker that a value is, or `undefined`. */
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

/** Type predicates of arrays do not tell read-only ones. */
export function isList(value: Display): value is readonly Display[] {
  return Array.isArray(value);
}
