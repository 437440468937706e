import { IndexError } from "../../base/errors.ts";
import { ArrangedDataset } from "../arranged_dataset.ts";
import { firstFrom } from "../../tree/shared_numbers.ts";
import type { Dataset } from "../dataset.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { recipeOf } from "./process.ts";

/**
 * Concatenates several datasets (Python's `ffrecord.torch.ConcatDataset`). A batch takes one read for each dataset
 * that it has samples of.
 *
 * @typeParam T What one sample is.
 *
 * @example Two files
 * ```ts
 * import { ConcatDataset, FFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const first = await FFRecordDataset.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const second = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * using both = new ConcatDataset([first, second]);
 * assert.equal(both.length, first.length + second.length);
 * const [a, b] = await both.get([first.length + 2, 0]);
 * assert.deepEqual([a], await second.get([2]));
 * assert.deepEqual([b], await first.get([0]));
 * ```
 */
export class ConcatDataset<T> extends ArrangedDataset<T> {
  /** Total number of samples. */
  override readonly length: number;
  /** Index of each dataset's first sample. */
  readonly #starts: Float64Array;

  /**
   * Joins datasets.
   *
   * @param datasets Datasets in order; closed with this one.
   * @throws {TypeError} If there is no dataset.
   * @throws {RangeError} If one is endless.
   */
  constructor(datasets: Iterable<Dataset<T>>) {
    const all = [...datasets];
    super(all);
    if (all.length === 0) {
      throw new TypeError("ConcatDataset needs at least one dataset to join");
    }
    let length = 0;
    this.#starts = Float64Array.from(all, (dataset, i) => {
      if (!Number.isSafeInteger(dataset.length)) {
        throw new RangeError(
          `ConcatDataset joins datasets that end: the length of its dataset ${i} is ${dataset.length}`,
        );
      }
      return (length += dataset.length) - dataset.length;
    });
    this.length = length;
  }

  /** Returns the recipe that constructs this dataset in another thread. */
  override [RECIPE](): Recipe {
    const datasets = this.sourceArguments("Dataset");
    return recipeOf(this, ConcatDataset, import.meta.url, [datasets]);
  }

  /** Returns the last dataset that starts at or before the index; empty datasets precede it. */
  protected override placeOf(
    index: number,
  ): { readonly part: number; readonly index: number } {
    const part = firstFrom(this.#starts, index + 1) - 1;
    return { part, index: index - this.#starts[part]! };
  }

  /** Returns the error for an index that is out of range. */
  protected override missing(index: number): IndexError {
    const path = `these ${this.#starts.length} joined datasets`;
    return new IndexError(index, this.length, path);
  }
}
