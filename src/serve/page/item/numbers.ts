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
  readonly data: readonly DisplayNumber[];
}

/** The part of an array's value that is drawn. */
export function drawnOf({ shownShape, dtype, data }: ArrayValue): Drawn {
  return { shape: shownShape, dtype, data };
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
  data: readonly DisplayNumber[],
): readonly [number, number] | undefined {
  let [min, max] = [Infinity, -Infinity];
  for (const value of data) {
    const it = numeric(value);
    if (!Number.isFinite(it)) continue;
    if (it < min) min = it;
    if (it > max) max = it;
  }
  return min <= max ? [min, max] : undefined;
}

/** How an array may be drawn. */
export type Drawing = "picture" | "map" | "curve" | "numbers";

/** Axes of a picture in an array, or `undefined` where it looks like none. */
export function pictureAxes(
  shape: readonly number[],
):
  | { height: number; width: number; channels: number; isFirst: boolean }
  | undefined {
  if (shape.length !== 3) return undefined;
  const [a, b, c] = shape as readonly [number, number, number];
  const isChannels = (size: number) => size === 1 || size === 3 || size === 4;
  if (isChannels(c) && a > 4 && b > 4) {
    return { height: a, width: b, channels: c, isFirst: false };
  }
  return isChannels(a) && b > 4 && c > 4
    ? { height: b, width: c, channels: a, isFirst: true }
    : undefined;
}

/** The ways an array can be drawn, the one that suits best first. */
export function drawingsOf({ shape, data }: Drawn): readonly Drawing[] {
  // Of texts, and where no number is finite, there is nothing to draw.
  if (rangeOf(data) === undefined) return ["numbers"];
  const length = shape.reduce((all, size) => all * size, 1);
  if (length <= 1) return ["numbers"];
  if (pictureAxes(shape) !== undefined) return ["picture", "map", "numbers"];
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
