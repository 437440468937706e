import { dtypeOf } from "./dtype_of.ts";
import { parseDtype } from "./dtype.ts";
import { elementCount, type NdArray, type NumericArray } from "./nd_array.ts";
import type { NpyContent } from "./write_npy.ts";

/** An array as it is stored. */
export interface EncodedArray {
  /** NumPy's name of the element type, little-endian. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** The bytes of the elements in C order; of numbers they are the very memory of the array. */
  readonly elements: Uint8Array;
}

/**
 * The type, shape and bytes of an array.
 *
 * @throws {TypeError} If data, shape and type do not fit each other.
 * @throws {NumpyError} If the type is not supported.
 */
export function encodeArray(array: NpyContent): EncodedArray {
  const { data } = array;
  const { dtype, shape } = checkArray(array);
  const elements = Array.isArray(data)
    ? encodeTexts(data, parseDtype(dtype).itemSize)
    : numericBytes(data);
  return { dtype, shape, elements };
}

/**
 * The type and shape of an array, which takes no memory to learn.
 *
 * @throws {TypeError} If data, shape and type do not fit each other.
 * @throws {NumpyError} If the type is not supported.
 */
export function checkArray(
  array: NpyContent,
): Omit<EncodedArray, "elements"> & {
  /** What the elements take in bytes. */
  readonly byteLength: number;
} {
  const { data } = array;
  const dtype = array.dtype ?? usualDtype(data);
  const byteLength = Array.isArray(data)
    ? checkTexts(data, dtype)
    : checkNumbers(data, dtype);
  const { itemSize } = parseDtype(dtype);
  const shape = array.shape ?? [byteLength / itemSize];
  if (elementCount(shape) * itemSize !== byteLength) {
    throw new TypeError(
      `shape (${shape.join(", ")}) of '${dtype}' takes ` +
        `${elementCount(shape) * itemSize} bytes, but data has ${byteLength}`,
    );
  }
  return { dtype, shape, byteLength };
}

/** The type that holds elements of which nothing else is said. */
function usualDtype(data: NdArray["data"]): string {
  if (!Array.isArray(data)) return dtypeOf(data);
  const longest = data.reduce((n, text) => Math.max(n, charactersOf(text)), 1);
  return `<U${longest}`;
}

function checkNumbers(data: NumericArray, dtypeName: string): number {
  const dtype = parseDtype(dtypeName);
  if (dtype.name !== dtypeName) {
    throw new TypeError(`'${dtypeName}' is not written; '${dtype.name}' is`);
  }
  const needed = dtype.holder?.name ?? "string[]";
  const given = data[Symbol.toStringTag];
  if (given !== needed) {
    throw new TypeError(`'${dtypeName}' is held in ${needed}, not in ${given}`);
  }
  return data.byteLength;
}

function numericBytes(data: NumericArray): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function checkTexts(data: readonly string[], dtypeName: string): number {
  const { name, holder, itemSize } = parseDtype(dtypeName);
  if (holder !== undefined || name !== dtypeName) {
    throw new TypeError(
      `'${dtypeName}' does not hold text: use <U and a length`,
    );
  }
  for (const text of data) {
    const length = charactersOf(text);
    if (length * 4 <= itemSize) continue;
    throw new TypeError(
      `'${dtypeName}' is too short for a text of ${length} characters`,
    );
  }
  return data.length * itemSize;
}

/** How many code points a text has. */
export function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function encodeTexts(data: readonly string[], itemSize: number): Uint8Array {
  const bytes = new Uint8Array(data.length * itemSize);
  const view = new DataView(bytes.buffer);
  data.forEach((text, i) => {
    [...text].forEach((character, k) => {
      view.setUint32(i * itemSize + 4 * k, character.codePointAt(0)!, true);
    });
  });
  return bytes;
}
