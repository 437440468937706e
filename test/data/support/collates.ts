/** What loaders collate with in tests, or process samples. */
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";
import {
  Compose,
  DecodeImage,
  type GetOptions,
  ToArray,
  transformSamples,
} from "../../../src/open/data/mod.ts";

/** Refuses. */
export function refuse(samples: readonly unknown[]): never {
  throw new SyntaxError(`I refuse these ${samples.length} samples`);
}

/** Makes an array of its own, of the first column. */
export function firstColumn(
  samples: readonly (readonly number[])[],
): Int32Array {
  return Int32Array.from(samples, (sample) => sample[0]!);
}

const kept = new Float32Array([1, 2, 3]);

/** Returns what it keeps. */
export function keep(): Float32Array {
  return kept;
}

/** Fails as a thread's first deed. */
export function failToInit(worker: number): never {
  throw new Error(`thread ${worker} shall not start`);
}

/** Notes that it was called. */
export function noteInit(worker: number): void {
  (globalThis as { initialised?: number }).initialised = worker;
}

/** The thread's number, as {@linkcode noteInit} noted it. */
export function initialised(): number | undefined {
  return (globalThis as { initialised?: number }).initialised;
}

let collated = 0;

/** How many batches this thread has collated. */
export function numberInThread(): number {
  return ++collated;
}

/** Makes an array of its own: how many bytes samples have. */
export function lengths(samples: readonly Uint8Array[]): Float64Array {
  return Float64Array.from(samples, ({ length }) => length);
}

const toArray = new Compose([new DecodeImage(), new ToArray()]);

/** Decodes pictures. */
export function pictureArrays(
  samples: readonly Uint8Array[],
  indices: readonly number[],
  options?: GetOptions,
): Promise<NdArray[]> {
  return transformSamples(toArray, samples, indices, options);
}
