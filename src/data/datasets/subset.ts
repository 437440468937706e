import { hashOfDataset } from "../dataset_origin.ts";
import { IndexError } from "../../base/errors.ts";
import { Dataset, type GetOptions, tellDataset } from "../dataset.ts";
import { newNumbers, type WholeNumbers } from "../../tree/shared_numbers.ts";
import { readIndexOf, type ReadIndexOptions } from "../index_file.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { hasSample } from "./has_sample.ts";
import { recipeOf } from "./process.ts";

/** Indices that have been compared with their dataset already. */
const checked = new WeakSet<WholeNumbers>();

/**
 * Some samples of a dataset, in any order, repeats allowed (Python's `ffrecord.torch.Subset`).
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
   * @param dataset The whole; it is closed with the subset.
   * @param indices Which samples of it: a list, or what else can be iterated. They are copied.
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
   * The subset that a file names, as `recordfs split` writes it: decimal indices, one a line; or a NumPy
   * `.npy` file of whole numbers. Where it says of which samples it is, those of the container that the dataset was
   * opened from must have these names, or lie in shards of these lengths; of datasets of your own, and of chosen files,
   * only the number of samples is compared.
   *
   * @param dataset The whole; it is closed with the subset.
   * @param path The file.
   * @throws {DataError} With code `bad-indices` if it has something else than indices of the dataset, or is an index of other
   * samples.
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
    options: ReadIndexOptions = {},
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

  /** Reads a batch, as the dataset does. */
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

  /** Those of the dataset. */
  override get shardLengths(): readonly number[] | undefined {
    return this.#dataset.shardLengths;
  }

  /** Tells the dataset. */
  override expect(indices: readonly number[], options?: GetOptions): number {
    const chosen = indices.map((index) => this.#indices[index])
      .filter((index) => index !== undefined);
    return tellDataset(this.#dataset, chosen, options);
  }

  /** The file that a sample lies in. */
  override fileOf(index: number, options?: GetOptions): string | undefined {
    const found = this.#indices[index];
    return found === undefined
      ? undefined
      : this.#dataset.fileOf(found, options);
  }

  /** The dataset again, and the same indices. */
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

/** Name of a dataset in messages. */
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
    if (!hasSample(dataset, index)) {
      throw new IndexError(index, dataset.length, nameOf(dataset));
    }
    copy[i++] = index;
  }
  checked.add(copy);
  return copy;
}
