import { IndexError } from "../../errors.ts";
import { BatchParts } from "../batch_parts.ts";
import { Dataset, type GetOptions } from "../dataset.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { hasSample } from "./has_sample.ts";
import { requireClass } from "./process.ts";

/**
 * Several datasets as one, one behind the other (Python's `ffrecord.torch.ConcatDataset`). A batch is one
 * read for each dataset that it has samples of.
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
export class ConcatDataset<T> extends Dataset<T> {
  /** Number of samples of all datasets. */
  override readonly length: number;
  readonly #datasets: readonly Dataset<T>[];
  /** The index of each dataset's first sample. */
  readonly #starts: readonly number[];

  /**
   * Joins datasets.
   *
   * @param datasets Which, in order; they are closed with this one.
   * @throws {TypeError} If there is none.
   * @throws {RangeError} If one never ends.
   */
  constructor(datasets: Iterable<Dataset<T>>) {
    super();
    this.#datasets = [...datasets];
    if (this.#datasets.length === 0) {
      throw new TypeError("ConcatDataset has no dataset to join");
    }
    let length = 0;
    this.#starts = this.#datasets.map((dataset, i) => {
      if (!Number.isSafeInteger(dataset.length)) {
        throw new RangeError(
          `ConcatDataset joins datasets that end: the length of its dataset ${i} is ${dataset.length}`,
        );
      }
      return (length += dataset.length) - dataset.length;
    });
    this.length = length;
  }

  /**
   * Reads a batch.
   *
   * @param indices From 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   * @throws {DataError} With code `bad-batch` if one of the datasets gives more samples, or fewer.
   */
  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    const parts = new BatchParts();
    for (const index of indices) {
      const part = this.#find(index);
      parts.add(part, index - this.#starts[part]!);
    }
    return await parts.read((part, own) =>
      this.#datasets[part]!.get(own, options)
    );
  }

  /** The file that a sample lies in. */
  override fileOf(index: number, options?: GetOptions): string | undefined {
    if (!hasSample(this, index)) return undefined;
    const part = this.#find(index);
    const own = index - this.#starts[part]!;
    return this.#datasets[part]!.fileOf(own, options);
  }

  /** The datasets again. */
  override [RECIPE](): Recipe {
    requireClass(this, ConcatDataset);
    const datasets = this.#datasets.map((dataset, i) =>
      argument(dataset, `Dataset ${i} of ConcatDataset`)
    );
    return {
      module: import.meta.url,
      name: "ConcatDataset",
      how: "new",
      args: [datasets],
    };
  }

  /** Closes the datasets. */
  override close(): void {
    for (const dataset of this.#datasets) dataset.close();
  }

  /** The last dataset that starts at or before a sample: empty ones come before. */
  #find(index: number): number {
    if (!hasSample(this, index)) {
      const path = `these ${this.#datasets.length} joined datasets`;
      throw new IndexError(index, this.length, path);
    }
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = low + high + 1 >>> 1;
      if (this.#starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
