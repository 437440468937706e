import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { requireSources } from "./count_of.ts";

/**
 * Sources in turn: of `n` sources, step `s` is step `floor(s / n)` of source `s % n`.
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
  /** Number of steps until a source has no further one; `Infinity` where none of them ends. */
  override readonly length: number;
  readonly #count: number;

  /**
   * Makes a source of several.
   *
   * @throws {RangeError} If there is none.
   */
  constructor(sources: readonly Dataset<T>[]) {
    super(sources);
    requireSources(sources, "Interleave");
    this.#count = sources.length;
    this.length = Math.min(
      ...sources.map(({ length }, i) => length * sources.length + i),
    );
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("Source");
    return recipeOf(this, Interleave, import.meta.url, [sources]);
  }

  /** Each source in turn. */
  protected override placeOf(step: number): SamplePlace {
    return { part: step % this.#count, index: Math.floor(step / this.#count) };
  }
}
