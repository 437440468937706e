import type { ScalarType, ValueType } from "../../codecs/values/value_type.ts";

/** How files show a column's values: the stored bytes, or a generated form. */
export type Form = "stored" | "json" | "npy";

/** Encoding of a column's values. Plain data, which is passed to other threads. */
export interface Encoding {
  /** Name in the index, such as `ndarray:float32:2,3`. */
  readonly word: string;
  readonly name: string;
  /** Bytes per value, if fixed; `rest` for the only value of a sample, which has no size of its own. */
  readonly size: number | "rest" | undefined;
  readonly form: Form;
  /** File type of the values; for lists, of the elements. */
  readonly type: ValueType;
  /** For numbers: how they are stored. */
  readonly scalar?: ScalarKind | undefined;
  /** For arrays: what stands before their elements. */
  readonly head?: ArrayHeadKind | undefined;
  /** For arrays: fixed dtype and shape, if the column declares them. */
  readonly dtype: string | undefined;
  readonly shape: readonly number[] | undefined;
  /** For arrays whose type is a number: the dtypes by their numbers. */
  readonly dtypes?: readonly (string | undefined)[] | undefined;
  readonly list: ListEncoding | undefined;
}

/**
 * What stands before an array's elements: Pillow's width, height and mode (`pixels`); a byte of the type and a packed
 * shape, as far as the column declares neither (`packed`); words of the type, of the number of dimensions and of their
 * lengths (`words`); or nothing (`bare`).
 */
export type ArrayHeadKind = "pixels" | "packed" | "words" | "bare";

/** List layout: number of elements, size of each, then the concatenated elements. */
export interface ListEncoding {
  readonly element: Encoding;
  /** Unused bytes before the number. */
  readonly before: number;
  /** Whether the list may be empty; otherwise the original's readers reject empty lists. */
  readonly mayBeEmpty: boolean;
}

/** Little-endian number types, named as in `DataView`. */
export type NumberKind =
  | `Big${"Int" | "Uint"}64`
  | `${"Int" | "Uint"}${8 | 16 | 32}`
  | `Float${16 | 32 | 64}`;

/** Types of numbers, and a byte that is 0 or 1. */
export type ScalarKind = NumberKind | "Bool";

/** Types of array dimensions, by width code. */
export const LENGTHS = ["Uint8", "Uint16", "Uint32", "BigUint64"] as const;

/** Type codes of arrays: NumPy name and dtype. */
export const ARRAY_TYPES: ReadonlyMap<number, readonly [string, string]> =
  new Map([
    [8, ["uint8", "|u1"]],
    [9, ["int8", "|i1"]],
    [16, ["uint16", "<u2"]],
    [17, ["int16", "<i2"]],
    [18, ["float16", "<f2"]],
    [32, ["uint32", "<u4"]],
    [33, ["int32", "<i4"]],
    [34, ["float32", "<f4"]],
    [64, ["uint64", "<u8"]],
    [65, ["int64", "<i8"]],
    [66, ["float64", "<f8"]],
  ]);

/** Maximum dimensions of an array: the count has 6 bits. */
export const MOST_DIMENSIONS = 63;

export function itemSize(dtype: string): number {
  return Number(dtype.slice(2));
}

/** Bytes of a number. */
export function scalarSize(kind: ScalarKind): number {
  return kind === "Bool" ? 1 : Number(/\d+/.exec(kind)![0]) / 8;
}

/** Returns the type of numbers in memory. */
export function scalarType(kind: ScalarKind): ScalarType {
  return kind.replace("Big", "").toLowerCase() as ScalarType;
}
