import { viewOf } from "../../base/view_of.ts";
import {
  elementCount,
  type NdArray,
  type NumericArray,
  NumpyError,
} from "./nd_array.ts";
import type { NpyContent } from "./npy.ts";
import { type Dtype, dtypeOf, parseDtype } from "./dtype.ts";
import { Buffer } from "node:buffer";

export interface ElementOrder {
  /** Whether the first index changes fastest (NumPy's `fortran_order`). Defaults to `false`. */
  readonly fortran?: boolean | undefined;
}

/**
 * Creates an array from the bytes of its elements. Shares their memory if they are in C order, little-endian and
 * aligned.
 *
 * @throws {NumpyError} If the number of bytes does not match, or the type is unsupported.
 */
export function arrayFromBytes(
  dtypeName: string,
  shape: readonly number[],
  bytes: Uint8Array,
  { fortran = false }: ElementOrder = {},
): NdArray {
  const dtype = parseDtype(dtypeName);
  const expected = elementCount(shape) * dtype.itemSize;
  if (expected !== bytes.length) {
    throw new NumpyError(
      "bad-npy",
      `Cannot read the array: it has ${bytes.length} bytes of data, but ` +
        `shape (${shape.join(", ")}) of '${dtype.name}' takes ${expected}`,
    );
  }
  const ordered = fortran && shape.length > 1
    ? cOrder(bytes, shape, dtype.itemSize)
    : bytes;
  const native = dtype.bigEndian
    ? swapBytes(ordered !== bytes ? ordered : bytes.slice(), dtype.unitSize)
    : ordered;
  return { dtype: dtype.name, shape, data: elements(dtype, native) };
}

function elements(dtype: Dtype, bytes: Uint8Array): NdArray["data"] {
  const { holder: Holder } = dtype;
  if (Holder === undefined) return texts(bytes, dtype.itemSize);
  const aligned = bytes.byteOffset % Holder.BYTES_PER_ELEMENT === 0
    ? bytes
    : bytes.slice();
  return new Holder(
    aligned.buffer,
    aligned.byteOffset,
    aligned.length / Holder.BYTES_PER_ELEMENT,
  );
}

/** Decodes text of fixed width, padded with NUL. */
function texts(bytes: Uint8Array, itemSize: number): string[] {
  const view = viewOf(bytes);
  const made: string[] = [];
  for (let start = 0; start < bytes.length; start += itemSize) {
    let end = start + itemSize;
    while (end > start && view.getUint32(end - 4, true) === 0) end -= 4;
    let text = "";
    for (let at = start; at < end; at += 4) {
      const codePoint = view.getUint32(at, true);
      if (codePoint > 0x10ffff) {
        throw new NumpyError(
          "bad-npy",
          `Cannot read the array: its text holds ${codePoint}, which is not a ` +
            "character",
        );
      }
      text += String.fromCodePoint(codePoint);
    }
    made.push(text);
  }
  return made;
}

/** Reorders elements from Fortran order to C order. */
function cOrder(
  bytes: Uint8Array,
  shape: readonly number[],
  itemSize: number,
): Uint8Array {
  const ordered = new Uint8Array(bytes.length);
  if (bytes.length === 0) return ordered;
  // Copies words if possible: single bytes take four times as long.
  const size =
    [4, 2].find((size) =>
      itemSize % size === 0 && bytes.byteOffset % size === 0
    ) ?? 1;
  const from = words(bytes, size);
  const to = words(ordered, size);
  const width = itemSize / size;
  const strides: number[] = [];
  let stride = width;
  for (const length of shape) {
    strides.push(stride);
    stride *= length;
  }
  const index = shape.map(() => 0);
  for (let source = 0, target = 0; target < to.length;) {
    for (let i = 0; i < width; i++) to[target++] = from[source + i]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      source += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      source -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return ordered;
}

function words(
  { buffer, byteOffset, length }: Uint8Array,
  size: number,
): Uint8Array | Uint16Array | Uint32Array {
  if (size === 4) return new Uint32Array(buffer, byteOffset, length / 4);
  if (size === 2) return new Uint16Array(buffer, byteOffset, length / 2);
  return new Uint8Array(buffer, byteOffset, length);
}

/** Reverses the bytes of each unit of 1, 2, 4 or 8 bytes, in place. */
export function swapBytes(bytes: Uint8Array, unit: number): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (unit === 2) buffer.swap16();
  else if (unit === 4) buffer.swap32();
  else if (unit === 8) buffer.swap64();
  return bytes;
}

export interface EncodedArray {
  /** NumPy's name of the element type, little-endian. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Bytes of the elements in C order; numbers share the array's memory. */
  readonly elements: Uint8Array;
}

/**
 * @throws {TypeError} If data, shape and type do not match.
 * @throws {NumpyError} If the type is unsupported.
 */
export function encodeArray(array: NpyContent): EncodedArray {
  const { data } = array;
  const { dtype, shape } = checkArray(array);
  const elements = Array.isArray(data)
    ? encodeTexts(data, parseDtype(dtype).itemSize)
    : numericBytes(data);
  return { dtype, shape, elements };
}

/** Returns the type and shape of an array, without allocating its encoding; throws like {@linkcode encodeArray}. */
export function checkArray(
  array: NpyContent,
): Omit<EncodedArray, "elements"> & {
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

function usualDtype(data: NdArray["data"]): string {
  if (!Array.isArray(data)) return dtypeOf(data);
  const longest = data.reduce((n, text) => Math.max(n, charactersOf(text)), 1);
  return `<U${longest}`;
}

function checkNumbers(data: NumericArray, dtypeName: string): number {
  const dtype = parseDtype(dtypeName);
  if (dtype.name !== dtypeName) {
    throw new TypeError(
      `'${dtypeName}' cannot be written: use '${dtype.name}'`,
    );
  }
  const needed = dtype.holder?.name ?? "string[]";
  const given = data[Symbol.toStringTag];
  if (given !== needed) {
    throw new TypeError(
      `'${dtypeName}' must be held in ${needed}, not in ${given}`,
    );
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

/** Number of code points. */
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

/** Whether a value is an {@linkcode NdArray}: exactly its three fields, which match each other. */
export function isNdArray(value: unknown): value is NdArray {
  if (typeof value !== "object" || value === null) return false;
  const { dtype, shape, data } = value as Partial<NdArray>;
  const isCandidate = typeof dtype === "string" && Array.isArray(shape) &&
    (ArrayBuffer.isView(data) || isTexts(data)) &&
    Object.keys(value).length === 3;
  if (!isCandidate) return false;
  try {
    checkArray({ dtype, shape, data });
    return true;
  } catch {
    return false;
  }
}

function isTexts(data: unknown): data is string[] {
  return Array.isArray(data) && data.every((text) => typeof text === "string");
}
