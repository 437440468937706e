import { ArrangedDataset } from "../arranged_dataset.ts";
import type { Dataset } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { RECIPE, type Recipe } from "../recipe.ts";

/**
 * Alternates between sources: of `n` sources, step `s` is step `floor(s / n)` of source `s % n`.
 *
 * @typeParam T What one sample is.
 *
 * @example One of each
 * ```ts
 * import { FFRecordDataset, Interleave } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using few = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * using one = await FFRecordDataset.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const source = new Interleave([few, one]);
 * assert.equal(source.length, 3); // `one` has no further sample for step 3
 * const samples = await source.get([0, 1, 2]);
 * assert.deepEqual(samples, [...await few.get([0]), ...await one.get([0]), ...await few.get([1])]);
 * ```
 */
export class Interleave<T> extends ArrangedDataset<T> {
  /** Number of steps until a source runs out; `Infinity` if all are endless. */
  override readonly length: number;
  readonly #count: number;

  /**
   * Makes the source.
   *
   * @throws {RangeError} If there is no source.
   */
  constructor(sources: readonly Dataset<T>[]) {
    super(sources);
    requireSources(sources, "Interleave");
    this.#count = sources.length;
    this.length = Math.min(
      ...sources.map(({ length }, i) => length * sources.length + i),
    );
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("Source");
    return recipeOf(this, Interleave, import.meta.url, [sources]);
  }

  /** Alternates between the sources. */
  protected override placeOf(
    step: number,
  ): { readonly part: number; readonly index: number } {
    return { part: step % this.#count, index: Math.floor(step / this.#count) };
  }
}

/**
 * The first samples of a source. Steps from `length` on wrap around: step `s` is step `s % length` of the source.
 * For an endless source use `new Epochs(new Truncate(source, limit))`.
 *
 * @typeParam T What one sample is.
 *
 * @example Try a training loop on two samples
 * ```ts
 * import { FFRecordDataset, Truncate } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * const source = new Truncate(dataset, 2);
 * assert.equal(source.length, 2);
 * assert.deepEqual(await source.get([0, 1, 2, 3]), await dataset.get([0, 1, 0, 1]));
 * ```
 */
export class Truncate<T> extends ArrangedDataset<T> {
  /** Number of samples: the limit, or the source's length if that is smaller. */
  override readonly length: number;

  /**
   * Makes the source.
   *
   * @param limit Maximum number of samples.
   * @throws {RangeError} If the limit is not a whole number ≥ 1, or the source is empty.
   */
  constructor(source: Dataset<T>, limit: number) {
    super([source]);
    const count = Math.min(limit, source.length);
    this.length = countOf(count, source.length, "Truncate");
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("The source");
    return recipeOf(this, Truncate, import.meta.url, [...sources, this.length]);
  }

  /** Wraps around at `length`. */
  protected override placeOf(
    step: number,
  ): { readonly part: number; readonly index: number } {
    return { part: 0, index: step % this.length };
  }

  /** Always `Infinity`: any step is valid. */
  protected override get end(): number {
    return Infinity;
  }
}

/**
 * Returns the number of samples to take from a dataset, by default all.
 *
 * @throws {RangeError} If the dataset is empty or has fewer samples, or if it is endless and `given` is missing.
 */
export function countOf(
  given: number | undefined,
  available: number,
  source: string,
): number {
  const count = given ?? available;
  if (Number.isSafeInteger(count) && count >= 1 && count <= available) {
    return count;
  }
  if (available === 0) {
    throw new RangeError(
      `${source} needs a dataset that has samples: it has none`,
    );
  }
  if (count === Infinity) {
    throw new RangeError(
      `${source} needs a number of samples to take, since the dataset ` +
        "never ends",
    );
  }
  throw new RangeError(
    `${source} must take a whole number from 1 to ${available} of the ` +
      `dataset's samples, not ${count}`,
  );
}

/** @throws {RangeError} If there is no source. */
export function requireSources(
  sources: readonly unknown[],
  source: string,
): void {
  if (sources.length > 0) return;
  throw new RangeError(`${source} needs at least one source`);
}
