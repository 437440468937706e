/** Memory that pixels lie in. */
export type Pixels = Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/**
 * The memory of a picture's pixels, and what each channel is still to be multiplied by, and what is to
 * be added to it then.
 */
export interface StoredPixels {
  readonly pixels: Pixels;
  readonly factors: readonly number[];
  readonly offsets: readonly number[];
}

/** Pixels that are the picture's values. */
export function valuesAs(pixels: Pixels): StoredPixels {
  return { pixels, factors: ONES, offsets: ZEROS };
}

const ONES = [1, 1, 1];
const ZEROS = [0, 0, 0];
