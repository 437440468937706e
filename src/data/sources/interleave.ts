import { Dataset, type GetOptions } from "../dataset.ts";
import { requireClass } from "../datasets/process.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { type Place, SeveralSources } from "./several_sources.ts";
import { isStep, requireSteps } from "./steps.ts";

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
export class Interleave<T> extends Dataset<T> {
  /** Number of steps until a source has no further one; `Infinity` where none of them ends. */
  readonly length: number;
  readonly #sources: SeveralSources<T>;

  /**
   * Makes a source of several.
   *
   * @throws {RangeError} If there is none.
   */
  constructor(sources: readonly Dataset<T>[]) {
    super();
    this.#sources = new SeveralSources(sources, "Interleave");
    const ends = this.#sources.lengths.map((length, i) =>
      length * sources.length + i
    );
    this.length = ends.reduce((least, end) => Math.min(least, end));
  }

  /**
   * Reads the samples of some steps: each source that has any of them once.
   *
   * @throws {IndexError} If one of them is no whole number from 0 to `length - 1`.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    requireSteps(steps, this.length, "Interleave");
    return await this.#sources.get(
      steps.map((step) => this.#placeOf(step)),
      options,
    );
  }

  /** The file that the sample of a step lies in. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    if (!isStep(step, this.length)) return undefined;
    return this.#sources.fileOf(this.#placeOf(step), options);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    requireClass(this, Interleave);
    return {
      module: import.meta.url,
      name: "Interleave",
      how: "new",
      args: [this.#sources.arguments()],
    };
  }

  /** Closes the sources. */
  override close(): void {
    this.#sources.close();
  }

  #placeOf(step: number): Place {
    const { count } = this.#sources;
    return { source: step % count, step: Math.floor(step / count) };
  }
}
