import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { countOf } from "./count_of.ts";

/**
 * The first samples of a source, and no others. Steps from `length` on are answered too: they go round, step
 * `s` is step `s % length` of the source. An endless one is `new Epochs(new Truncate(source, limit))`.
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
  /** How many samples there are: the limit, or all of a source that has no more. */
  override readonly length: number;

  /**
   * Makes a source of another.
   *
   * @param limit How many samples, at most.
   * @throws {RangeError} If the limit is no whole number from 1 on, or the source is empty.
   */
  constructor(source: Dataset<T>, limit: number) {
    super([source]);
    const count = Math.min(limit, source.length);
    this.length = countOf(count, source.length, "Truncate");
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("The source");
    return recipeOf(this, Truncate, import.meta.url, [...sources, this.length]);
  }

  /** Steps go round. */
  protected override placeOf(step: number): SamplePlace {
    return { part: 0, index: step % this.length };
  }

  /** Steps have no end, though samples have one. */
  protected override get end(): number {
    return Infinity;
  }
}
