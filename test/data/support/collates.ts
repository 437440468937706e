/** Functions with which loaders in tests collate or process samples. */
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";
import {
  Compose,
  DecodeImage,
  type GetOptions,
  ToArray,
  transformSamples,
} from "../../../src/open/data/mod.ts";

/** Throws. */
export function refuse(samples: readonly unknown[]): never {
  throw new SyntaxError(`I refuse these ${samples.length} samples`);
}

/** Returns a new array of the first column. */
export function firstColumn(
  samples: readonly (readonly number[])[],
): Int32Array {
  return Int32Array.from(samples, (sample) => sample[0]!);
}

const kept = new Float32Array([1, 2, 3]);

/** Returns the same array each time. */
export function keep(): Float32Array {
  return kept;
}

/** Throws when a thread starts. */
export function failToInit(worker: number): never {
  throw new Error(`thread ${worker} shall not start`);
}

/** Records that it was called. */
export function noteInit(worker: number): void {
  (globalThis as { initialised?: number }).initialised = worker;
}

/** Returns the thread index recorded by {@linkcode noteInit}. */
export function initialised(): number | undefined {
  return (globalThis as { initialised?: number }).initialised;
}

let collated = 0;

/** Returns how many batches this thread has collated. */
export function numberInThread(): number {
  return ++collated;
}

/** Returns a new array of the samples' lengths in bytes. */
export function lengths(samples: readonly Uint8Array[]): Float64Array {
  return Float64Array.from(samples, ({ length }) => length);
}

const toArray = new Compose([new DecodeImage(), new ToArray()]);

/** Decodes images. */
export function pictureArrays(
  samples: readonly Uint8Array[],
  indices: readonly number[],
  options?: GetOptions,
): Promise<NdArray[]> {
  return transformSamples(toArray, samples, indices, options);
}
