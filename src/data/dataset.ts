import type { BatchMemory } from "./batch_memory.ts";
import { RECIPE, type Recipe } from "./recipe.ts";

/** Key of the memory that a loader stacks samples in. Transforms may write arrays there directly. */
export const STACK: unique symbol = Symbol("recordfs.stack");

/** Options of reading a batch. A dataset's random choices depend on these and the indices only. */
export interface GetOptions {
  /** The loader's seed: a safe integer ≥ 0. Defaults to 0. */
  readonly seed?: number;
  /** Number of the pass over the data, from 0. Defaults to 0. */
  readonly epoch?: number;
  /** Stops waiting when aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Memory to read the batch's bytes into, if the dataset reads bytes. The samples, as `process` gets them, are
   * views of its buffers and valid until these are reused. After an aborted `get` the buffers must not be reused:
   * `process` may still be running. By default each sample has its own memory.
   */
  readonly memory?: BatchMemory | undefined;
  /** @internal */
  readonly [STACK]?: BatchMemory | undefined;
}

/**
 * Samples by index, read a batch at a time: one read per batch is several times as fast as one per sample.
 *
 * A custom dataset needs `length` and `get`. The library's datasets can be extended by overriding `process`, which
 * turns the bytes of a batch into training samples.
 *
 * @typeParam T What one sample is.
 */
export abstract class Dataset<T> {
  /** Number of samples; `Infinity` if every index ≥ 0 is valid. */
  abstract readonly length: number;

  /**
   * Reads a batch.
   *
   * @param indices Indices from 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   */
  abstract get(
    indices: readonly number[],
    options?: GetOptions,
  ): readonly T[] | Promise<readonly T[]>;

  /**
   * Hints that samples will be read soon, in this order, so that remote data can be fetched ahead. It must not
   * change what {@linkcode Dataset.get} returns, throw, or wait.
   *
   * A loader calls it once for each batch. A dataset that wraps others must forward the hint with their indices.
   *
   * @param _indices Indices, as for `get`; invalid ones are ignored.
   * @param _options Seed and epoch of the coming read.
   * @returns Approximate number of bytes to fetch, by which a loader limits how far it reads ahead; 0 if nothing is
   * fetched.
   */
  prefetch(_indices: readonly number[], _options?: GetOptions): number {
    return 0;
  }

  /**
   * Returns the file that contains a sample, for messages; `undefined` if there is none.
   *
   * @param _options Options that the sample was read with; with randomly drawn samples the file depends on them.
   */
  fileOf(_index: number, _options?: GetOptions): string | undefined {
    return undefined;
  }

  /**
   * Number of samples in each file, 0 for a file that was skipped as damaged; `undefined` if unknown. Part of a
   * loader's state: other lengths mean that samples have other indices.
   */
  get shardLengths(): readonly number[] | undefined {
    return undefined;
  }

  /**
   * Returns the recipe that constructs this dataset in another thread; `undefined` if that is impossible, so that a
   * loader cannot use worker threads.
   *
   * @throws {DataError} With code `not-portable`, naming the part that cannot be constructed in another thread.
   */
  [RECIPE](): Recipe | undefined {
    return undefined;
  }

  /** Closes the files. Samples that were read stay valid. */
  close(): void {}

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Sends a prefetch hint to a dataset. Returns 0 for a dataset without the method: `length` and `get` suffice. */
export function tellDataset(
  dataset: Partial<Pick<Dataset<unknown>, "prefetch">>,
  indices: readonly number[],
  options?: GetOptions,
): number {
  return dataset.prefetch?.(indices, options) ?? 0;
}

/** Describes what is wrong with a batch that must have one sample for each index; `undefined` if it is correct. */
export function miscounted(
  samples: unknown,
  indices: readonly number[],
): string | undefined {
  if (!Array.isArray(samples)) return "no list of samples";
  return samples.length === indices.length
    ? undefined
    : `${samples.length} samples`;
}
