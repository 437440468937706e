/**
 * NumPy arrays: `readNpy` and `writeNpy` for `.npy` files and the members of `.npz` files.
 *
 * @module
 */
export { type NdArray, type NumericArray, NumpyError } from "./nd_array.ts";
export { readNpy, writeNpy } from "./npy.ts";
