import { arrayFromBytes } from "./array_from_bytes.ts";
import { readNpyHeader } from "./npy_header.ts";
import type { NdArray } from "./nd_array.ts";

/**
 * Reads a `.npy` file (Python's `numpy.load`): numbers, truth values, text, dates and raw bytes, of
 * either byte order, in C or Fortran order. Nothing is executed: arrays of Python objects, which
 * are pickled, are refused, and so are records of several fields.
 *
 * @param bytes The whole file. The array shares its memory where the elements need no conversion.
 * @throws {NumpyError} If it is damaged (`code: "bad-npy"`), or holds what has no counterpart here
 * (`code: "unsupported-dtype"`).
 *
 * @example Read an array from a packed folder
 * ```ts
 * import { PackedFolder, readNpy } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using folder = await PackedFolder.open("test/recipes/packed.ffr");
 * const array = readNpy(await folder.read("just_another_folder/npyfile.npy"));
 * assert.deepEqual(array.shape, [2, 3]);
 * assert.deepEqual(array.data, Float32Array.of(0, 0.5, 1, 1.5, 2, 2.5));
 * ```
 */
export function readNpy(bytes: Uint8Array): NdArray {
  const { dtype, fortran, shape, end } = readNpyHeader(bytes);
  return arrayFromBytes(dtype, shape, bytes.subarray(end), { fortran });
}
