/**
 * NumPy's arrays: `readNpy` and `writeNpy` for `.npy` files and the members of `.npz` files.
 *
 * @module
 */
export type { NdArray, NumericArray } from "./nd_array.ts";
export { NumpyError } from "./numpy_error.ts";
export { readNpy } from "./read_npy.ts";
export { type NpyContent, writeNpy } from "./write_npy.ts";
export { type ErrorFacts, RecordfsError } from "../../errors.ts";
