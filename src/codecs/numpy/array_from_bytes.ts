import { type Dtype, parseDtype } from "./dtype.ts";
import { elementCount, type NdArray } from "./nd_array.ts";
import { NumpyError } from "./numpy_error.ts";
import { swapBytes } from "./swap_bytes.ts";

/** How the elements lie in memory. */
export interface ElementOrder {
  /** Whether the first index changes fastest (NumPy's `fortran_order`). Defaults to `false`. */
  readonly fortran?: boolean | undefined;
}

/**
 * Makes an array of the bytes of its elements. It shares their memory where they are in C order,
 * little-endian, and aligned for their type.
 *
 * @throws {NumpyError} If the bytes are not exactly the elements, or there is nothing to hold them.
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
      `The array has ${bytes.length} bytes of data, but shape ` +
        `(${shape.join(", ")}) of '${dtype.name}' takes ${expected}`,
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

/** Text of fixed width, filled up with NUL. */
function texts(bytes: Uint8Array, itemSize: number): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
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
          `The array's text holds ${codePoint}, which is no character`,
        );
      }
      text += String.fromCodePoint(codePoint);
    }
    made.push(text);
  }
  return made;
}

/** Moves elements from the order in which the first index changes fastest to C order. */
function cOrder(
  bytes: Uint8Array,
  shape: readonly number[],
  itemSize: number,
): Uint8Array {
  const ordered = new Uint8Array(bytes.length);
  if (bytes.length === 0) return ordered;
  // Whole words where the elements consist of such: bytes one by one take four times as long.
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
