import { RecordfsError } from "../../base/errors.ts";

/** Typed array with the elements of an {@linkcode NdArray}. */
export type NumericArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float16Array
  | Float32Array
  | Float64Array;

/**
 * NumPy array: elements of one type, in any number of dimensions.
 *
 * | `dtype`                     | in Python              | `data`                                        |
 * | --------------------------- | ---------------------- | --------------------------------------------- |
 * | `\|b1`                      | `bool`                 | `Uint8Array` of 0 and 1                       |
 * | `\|i1`, `<i2`, `<i4`        | `int8` to `int32`      | `Int8Array`, `Int16Array`, `Int32Array`       |
 * | `\|u1`, `<u2`, `<u4`        | `uint8` to `uint32`    | `Uint8Array`, `Uint16Array`, `Uint32Array`    |
 * | `<i8`, `<u8`                | `int64`, `uint64`      | `BigInt64Array`, `BigUint64Array`             |
 * | `<f2`, `<f4`, `<f8`         | `float16` to `float64` | `Float16Array`, `Float32Array`, `Float64Array` |
 * | `<c8`, `<c16`               | `complex64`, `complex128` | `Float32Array`, `Float64Array`: real, imaginary, real, … |
 * | `<M8[ns]`, `<m8[s]`, …      | `datetime64`, `timedelta64` | `BigInt64Array` of the unit in brackets  |
 * | `<U5`                       | `str` of up to 5       | `string[]`                                    |
 * | `\|S5`, `\|V5`              | `bytes`, raw, 5 each   | `Uint8Array`, 5 for each element              |
 */
export interface NdArray {
  /** NumPy's name of the element type, in little-endian order, such as `<f4`. */
  readonly dtype: string;
  /** Length of each dimension, outermost first; empty for a single value. */
  readonly shape: readonly number[];
  /** Elements in C order: the last index changes fastest. */
  readonly data: NumericArray | string[];
}

/** Number of elements of a shape; NaN if its lengths are invalid. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const length of shape) {
    if (!Number.isSafeInteger(length) || length < 0) return NaN;
    count *= length;
  }
  return shape.includes(0) ? 0 : count;
}

/** A NumPy array is damaged, or its type is unsupported. */
export class NumpyError
  extends RecordfsError<"bad-npy" | "unsupported-dtype"> {}

/** NumPy 2's limit of dimensions. */
const MOST_DIMENSIONS = 64;

/** Whether a value is a list of lengths, of at most as many dimensions as NumPy supports. */
export function isShape(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= MOST_DIMENSIONS &&
    value.every((length) =>
      Number.isSafeInteger(length) && length as number >= 0
    );
}
