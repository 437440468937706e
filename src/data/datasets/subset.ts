import { hashOfDataset } from "../dataset_origin.ts";
import { IndexError } from "../../base/errors.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { LocationOptions } from "../../io/storage/stored_location.ts";
import { Dataset, type GetOptions, tellDataset } from "../dataset.ts";
import { newNumbers, type WholeNumbers } from "../../tree/shared_numbers.ts";
import { readIndexOf } from "../index_file.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { isIndex } from "../../tree/sample_indices.ts";
import { recipeOf } from "./process.ts";

/** Indices that have already been checked against their dataset. */
const checked = new WeakSet<WholeNumbers>();

/**
 * A subset of the samples of a dataset, in any order, repeats allowed (Python's `ffrecord.torch.Subset`).
 *
 * @typeParam T What one sample is.
 *
 * @example Every tenth sample
 * ```ts
 * import { FFRecordDataset, Subset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const whole = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * using tenth = new Subset(whole, Array.from({ length: 100 }, (_, i) => 10 * i));
 * assert.equal(tenth.length, 100);
 * assert.deepEqual(await tenth.get([7]), await whole.get([70]));
 * ```
 */
export class Subset<T> extends Dataset<T> {
  readonly #dataset: Dataset<T>;
  readonly #indices: WholeNumbers;

  /**
   * Makes a subset.
   *
   * @param dataset The whole dataset; closed with the subset.
   * @param indices Indices of its samples: a list or another iterable. They are copied.
   * @throws {IndexError} If the dataset has no such sample.
   */
  constructor(dataset: Dataset<T>, indices: Iterable<number>) {
    super();
    this.#dataset = dataset;
    this.#indices = isChecked(indices)
      ? indices
      : checkedCopy(dataset, indices);
  }

  /**
   * Reads a subset from an index file, as `recordfs split` writes it: decimal indices, one per line; or a NumPy
   * `.npy` file of whole numbers. If the file identifies its samples, the number of samples must match, and the
   * names and shard lengths of the container that the dataset was opened from. For custom datasets and chosen files
   * only the number of samples is checked.
   *
   * @param dataset The whole dataset; closed with the subset.
   * @param path Location of the index file.
   * @throws {DataError} With code `bad-indices` if the file contains anything but indices of the dataset, or
   * indexes other samples.
   *
   * @example Write the indices of a subset, and read them
   * ```ts
   * import { FFRecordDataset, Subset, writeIndexFile } from "@recordfs/recordfs/data";
   * import assert from "node:assert/strict";
   *
   * const path = `${await Deno.makeTempDir()}/some.txt`;
   * await writeIndexFile(path, [5, 1, 1000], { comments: ["three of them"] });
   * const whole = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
   * using some = await Subset.fromFile(whole, path);
   * assert.deepEqual(await some.get([2]), await whole.get([1000]));
   * ```
   */
  static async fromFile<T>(
    dataset: Dataset<T>,
    path: string | URL,
    options: WaitOptions & LocationOptions = {},
  ): Promise<Subset<T>> {
    const names = () => hashOfDataset(dataset, options.signal);
    const indices = await readIndexOf(path, dataset.length, names, options);
    checked.add(indices);
    return new Subset(dataset, indices);
  }

  /** Number of samples. */
  override get length(): number {
    return this.#indices.length;
  }

  /** Reads a batch from the dataset. */
  override get(
    indices: readonly number[],
    options?: GetOptions,
  ): readonly T[] | Promise<readonly T[]> {
    const chosen = indices.map((index) => {
      const found = this.#indices[index];
      if (found !== undefined) return found;
      const whole = nameOf(this.#dataset);
      throw new IndexError(index, this.length, `this subset of ${whole}`);
    });
    return this.#dataset.get(chosen, options);
  }

  /** Shard lengths of the dataset. */
  override get shardLengths(): readonly number[] | undefined {
    return this.#dataset.shardLengths;
  }

  /** Forwards the prefetch hint to the dataset. */
  override prefetch(indices: readonly number[], options?: GetOptions): number {
    const chosen = indices.map((index) => this.#indices[index])
      .filter((index) => index !== undefined);
    return tellDataset(this.#dataset, chosen, options);
  }

  /** Returns the file that contains a sample. */
  override fileOf(index: number, options?: GetOptions): string | undefined {
    const found = this.#indices[index];
    return found === undefined
      ? undefined
      : this.#dataset.fileOf(found, options);
  }

  /** Returns the recipe that constructs this subset in another thread. */
  override [RECIPE](): Recipe {
    const dataset = argument(this.#dataset, "The dataset of Subset");
    const args = [dataset, this.#indices];
    return recipeOf(this, Subset, import.meta.url, args, "reopenSubset");
  }

  /** Closes the dataset. */
  override close(): void {
    this.#dataset.close();
  }
}

/** Makes the subset in another thread. */
export function reopenSubset<T>(
  dataset: Dataset<T>,
  indices: WholeNumbers,
): Subset<T> {
  checked.add(indices);
  return new Subset(dataset, indices);
}

/** Returns the name of a dataset for messages: its first file, or its class. */
export function nameOf(dataset: Dataset<unknown>): string {
  const file = dataset.length > 0 ? dataset.fileOf(0) : undefined;
  return file ?? dataset.constructor.name;
}

function isChecked(indices: Iterable<number>): indices is WholeNumbers {
  return checked.has(indices as WholeNumbers);
}

function isList(
  indices: Iterable<number>,
): indices is Iterable<number> & { readonly length: number } {
  return Array.isArray(indices) || ArrayBuffer.isView(indices);
}

function checkedCopy(
  dataset: Dataset<unknown>,
  indices: Iterable<number>,
): WholeNumbers {
  const list = isList(indices) ? indices : [...indices];
  const copy = newNumbers(list.length, dataset.length);
  let i = 0;
  for (const index of list) {
    if (!isIndex(index, dataset.length)) {
      throw new IndexError(index, dataset.length, nameOf(dataset));
    }
    copy[i++] = index;
  }
  checked.add(copy);
  return copy;
}
