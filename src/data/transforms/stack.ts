import type { NdArray, NumericArray } from "../../codecs/numpy/nd_array.ts";

/**
 * Puts arrays of one shape behind each other, as `numpy.stack` does.
 *
 * @param arrays At least one, of numbers.
 * @param what What each of them is, for the message: "frame".
 * @throws {TypeError} If they differ in shape or type.
 */
export function stackArrays(arrays: readonly NdArray[], what: string): NdArray {
  const first = arrays[0]!;
  const { dtype, shape } = first;
  arrays.forEach((array, i) => {
    const isAlike = array.dtype === dtype &&
      array.shape.length === shape.length &&
      array.shape.every((length, d) => length === shape[d]);
    if (isAlike) return;
    throw new TypeError(
      `Arrays cannot be stacked: the first ${what} is ${
        shown(first)
      }, number ${i} is ` +
        `${shown(array)}: give them one size, or do not stack them`,
    );
  });
  const all = arrays.map(({ data }) => data as Uint8Array<ArrayBuffer>);
  const Numbers = all[0]!.constructor as Uint8ArrayConstructor;
  const data = new Numbers(all.length * all[0]!.length);
  all.forEach((one, i) => data.set(one, i * one.length));
  return {
    dtype,
    shape: [arrays.length, ...shape],
    data: data as NumericArray,
  };
}

function shown({ dtype, shape }: NdArray): string {
  return `[${shape.join(", ")}] of ${dtype}`;
}
