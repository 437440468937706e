import { isBytes, type Picture, storedPixels } from "./picture.ts";
import type { StoredPixels } from "./stored_pixels.ts";
import type { ValueArray } from "./write_values.ts";

/** Types of elements of an array. */
export type ArrayDtype = "float16" | "float32" | "uint8";

/** Options of both {@linkcode ToArray} and {@linkcode ToArrayVideo}. */
export interface ArrayOptions {
  /** Type of the elements; `float32` unless given. `uint8` is for pixels that are bytes. */
  readonly dtype?: ArrayDtype | undefined;
  /** Factor of values: `1 / 255` gives values from 0 to 1. Unless given, 1. */
  readonly scale?: number | undefined;
}

/** Options that were checked. */
export interface CheckedArrayOptions {
  readonly dtype: ArrayDtype;
  readonly scale: number;
}

/** NumPy's names. */
export const DTYPES: Record<ArrayDtype, string> = {
  float16: "<f2",
  float32: "<f4",
  uint8: "|u1",
};

/**
 * Checks what a step was given.
 *
 * @throws {TypeError} If there is no such type, or it cannot hold what is scaled.
 */
export function checkedArrayOptions(
  { dtype = "float32", scale = 1 }: ArrayOptions,
  step: string,
): CheckedArrayOptions {
  if (!Object.hasOwn(DTYPES, dtype)) {
    throw new TypeError(
      `${step} makes no arrays of ${dtype}: give float32, float16 or uint8`,
    );
  }
  if (!Number.isFinite(scale) || dtype === "uint8" && scale !== 1) {
    throw new TypeError(
      `${step} cannot scale by ${scale}${
        dtype === "uint8" ? " to uint8: give a float dtype" : ": give a number"
      }`,
    );
  }
  return { dtype, scale };
}

/**
 * Makes sure that a layout is one of those there are.
 *
 * @throws {TypeError} If it is none.
 */
export function assertLayout(
  layout: string,
  layouts: readonly string[],
  step: string,
): void {
  if (layouts.includes(layout)) return;
  throw new TypeError(
    `${step} has no layout '${layout}': give ${layouts.join(" or ")}`,
  );
}

/** Memory for an array's elements. */
export function newValues(dtype: ArrayDtype, length: number): ValueArray {
  switch (dtype) {
    case "float16":
      return new Float16Array(length);
    case "float32":
      return new Float32Array(length);
    case "uint8":
      return new Uint8Array(length);
  }
}

/**
 * What is to be written of a picture.
 *
 * @throws {TypeError} If its values are real numbers, and the elements bytes.
 */
export function scaledPixels(
  picture: Picture,
  { dtype, scale }: CheckedArrayOptions,
  step: string,
): StoredPixels {
  const stored = storedPixels(picture);
  if (dtype === "uint8" && !isBytes(picture)) {
    throw new TypeError(
      `${step} cannot make bytes of real numbers: give dtype: "float32", or leave out what makes ` +
        "them (Normalize, UnitNorm)",
    );
  }
  if (scale === 1) return stored;
  return {
    pixels: stored.pixels,
    factors: stored.factors.map((factor) => factor * scale),
    offsets: stored.offsets.map((offset) => offset * scale),
  };
}
