import { encodeArray } from "./encode_array.ts";
import type { NdArray } from "./nd_array.ts";
import { npyHeader } from "./npy_header.ts";

/** An array to write. */
export interface NpyContent {
  /** The elements in C order. */
  readonly data: NdArray["data"];
  /** Length of each dimension. Defaults to one dimension that holds all of `data`. */
  readonly shape?: readonly number[] | undefined;
  /** NumPy's name of the element type. Defaults to what the class of `data` holds. */
  readonly dtype?: string | undefined;
}

/**
 * Makes a `.npy` file (Python's `numpy.save`), which `numpy.load` reads, as {@linkcode readNpy} does.
 *
 * @param array What {@linkcode readNpy} returns, or elements with a shape and, where the class of
 * `data` leaves it open (truth values, complex numbers, dates, raw bytes), a `dtype`.
 * @returns The bytes of the file.
 * @throws {TypeError} If data, shape and type do not fit each other.
 * @throws {NumpyError} If the type is not supported.
 *
 * @example Write and read back
 * ```ts
 * import { readNpy, writeNpy } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * const bytes = writeNpy({ data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] });
 * assert.deepEqual(readNpy(bytes).shape, [2, 2]);
 * assert.equal(readNpy(bytes).dtype, "<f4");
 * ```
 */
export function writeNpy(array: NpyContent): Uint8Array<ArrayBuffer> {
  const { dtype, shape, elements } = encodeArray(array);
  const header = npyHeader(dtype, shape);
  const file = new Uint8Array(header.length + elements.length);
  file.set(header);
  file.set(elements, header.length);
  return file;
}
