import type { BatchMemory } from "./batch_memory.ts";
import { RECIPE, type Recipe } from "./recipe.ts";

/** Key of the memory that a loader stacks samples in: arrays that are made of them may be written there at once. */
export const STACK: unique symbol = Symbol("recordfs.stack");

/** Purpose of reading a batch: what is random in it follows from this and the indices, and nothing else. */
export interface GetOptions {
  /** The loader's seed: a safe integer ≥ 0. Unless given, 0. */
  readonly seed?: number;
  /** Which pass over the data this is, from 0. Unless given, 0. */
  readonly epoch?: number;
  /** Gives up waiting when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What the bytes of the batch are read into, where the dataset reads bytes: the samples, as `process`
   * gets them, are then views of its buffers, valid until these are used again. When `get` has been
   * aborted that must not be: `process` may still be at work. Unless given, each sample has memory of its
   * own.
   */
  readonly memory?: BatchMemory | undefined;
  /** @internal */
  readonly [STACK]?: BatchMemory | undefined;
}

/**
 * Samples by number, read a batch at a time: one read for a batch is several times as fast as one for
 * each sample.
 *
 * A class of yours needs `length` and `get`; those here are made for being extended with `process`,
 * which makes of a batch's bytes what you train on.
 *
 * @typeParam T What one sample is.
 */
export abstract class Dataset<T> {
  /** Number of samples; `Infinity` where any index from 0 is one. */
  abstract readonly length: number;

  /**
   * Reads a batch.
   *
   * @param indices From 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   */
  abstract get(
    indices: readonly number[],
    options?: GetOptions,
  ): readonly T[] | Promise<readonly T[]>;

  /**
   * Hears which samples will be read soon, in the order in which they will be: what lies on servers is fetched
   * meanwhile. Nothing it does shows in what {@linkcode Dataset.get} gives; it never throws and never waits.
   *
   * A loader tells each batch once. A class of yours whose samples are those of other datasets passes on which they are.
   *
   * @param _indices As for `get`; what there is not is passed over.
   * @param _options Seed and epoch that they will be read with.
   * @returns About how many bytes that is to have fetched: a loader goes no further ahead than some of them. 0 where
   * nothing has to be fetched.
   */
  expect(_indices: readonly number[], _options?: GetOptions): number {
    return 0;
  }

  /**
   * The file that a sample lies in, for messages; `undefined` where there is none to name.
   *
   * @param _options What the sample was read for: where indices are drawn, the file follows from it too.
   */
  fileOf(_index: number, _options?: GetOptions): string | undefined {
    return undefined;
  }

  /**
   * The number of samples of each file that they lie in, 0 of one that is left out since it is damaged; `undefined`
   * where that is not known. A loader's state has it: with other lengths, samples have other numbers.
   */
  get shardLengths(): readonly number[] | undefined {
    return undefined;
  }

  /**
   * How another thread makes this dataset; `undefined` where it cannot, so that a loader of it has no
   * workers.
   *
   * @throws {DataError} With code `not-portable`, saying which part of it cannot go to another thread.
   */
  [RECIPE](): Recipe | undefined {
    return undefined;
  }

  /** Closes the files. What was read stays valid. */
  close(): void {}

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Tells a dataset what will be read soon; what only has `length` and `get` is one as well.
 *
 * @returns What {@linkcode Dataset.expect} does.
 */
export function tellDataset(
  dataset: Partial<Pick<Dataset<unknown>, "expect">>,
  indices: readonly number[],
  options?: GetOptions,
): number {
  return dataset.expect?.(indices, options) ?? 0;
}

/**
 * What a batch is in place of one sample for each index; `undefined` where it is that.
 *
 * @param samples What was given as a batch.
 */
export function miscounted(
  samples: unknown,
  indices: readonly number[],
): string | undefined {
  if (!Array.isArray(samples)) return "no list of samples";
  return samples.length === indices.length
    ? undefined
    : `${samples.length} samples`;
}
