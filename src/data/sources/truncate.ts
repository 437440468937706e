import { Dataset, type GetOptions } from "../dataset.ts";
import { requireClass } from "../datasets/process.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { wholeBatch } from "../batch_parts.ts";
import { countOf, isStep, requireSteps } from "./steps.ts";

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
export class Truncate<T> extends Dataset<T> {
  /** How many samples there are: the limit, or all of a source that has no more. */
  readonly length: number;
  readonly #source: Dataset<T>;

  /**
   * Makes a source of another.
   *
   * @param limit How many samples, at most.
   * @throws {RangeError} If the limit is no whole number from 1 on, or the source is empty.
   */
  constructor(source: Dataset<T>, limit: number) {
    super();
    this.#source = source;
    const count = Math.min(limit, source.length);
    this.length = countOf(count, source.length, "Truncate");
  }

  /**
   * Reads the samples of some steps.
   *
   * @throws {IndexError} If one of them is no whole number from 0 on.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    requireSteps(steps, Infinity, "Truncate");
    const indices = steps.map((step) => step % this.length);
    return wholeBatch(await this.#source.get(indices, options), indices);
  }

  /** The file that the sample of a step lies in. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    if (!isStep(step, Infinity)) return undefined;
    return this.#source.fileOf(step % this.length, options);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    requireClass(this, Truncate);
    const source = argument(this.#source, "The source of Truncate");
    return {
      module: import.meta.url,
      name: "Truncate",
      how: "new",
      args: [source, this.length],
    };
  }

  /** Closes the source. */
  override close(): void {
    this.#source.close();
  }
}
