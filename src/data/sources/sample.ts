import { Dataset, type GetOptions } from "../dataset.ts";
import { requireClass } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { wholeBatch } from "../batch_parts.ts";
import { OwnSeed } from "./own_seed.ts";
import { countOf, isStep, requireSteps } from "./steps.ts";

/** Options of {@linkcode Sample}. */
export interface SampleOptions {
  /** How many of the dataset's samples are drawn from: the first so many. All, unless given. */
  readonly length?: number | undefined;
  /** A safe integer ≥ 0: other seeds, other samples. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * At each step a sample of a dataset that is drawn at random, whatever was drawn before. Which one
 * follows from the step, the seed given here, and the loader's.
 *
 * @typeParam T What one sample is.
 *
 * @example A thousand draws
 * ```ts
 * import { FFRecordDataset, Sample } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * const source = new Sample(dataset, { seed: 1 });
 * const [a, b] = await source.get([1_000_000, 1_000_000]);
 * assert.deepEqual(a, b); // the same step, the same sample
 * ```
 */
export class Sample<T> extends Dataset<T> {
  /** There is no end of steps. */
  readonly length: number = Infinity;
  readonly #source: Dataset<T>;
  readonly #count: number;
  readonly #seed: OwnSeed;

  /**
   * Makes a source of a dataset.
   *
   * @throws {RangeError} If the dataset is empty, or endless and no `length` is given, or an option is out
   * of range.
   */
  constructor(source: Dataset<T>, options: SampleOptions = {}) {
    super();
    this.#source = source;
    this.#count = countOf(options.length, source.length, "Sample");
    this.#seed = new OwnSeed("sample", options.seed ?? 0);
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
    requireSteps(steps, Infinity, "Sample");
    const indices = steps.map((step) => this.#indexOf(step, options));
    return wholeBatch(await this.#source.get(indices, options), indices);
  }

  /** The file that the sample of a step lies in, where it is said what the step is read for. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    if (options === undefined || !isStep(step, Infinity)) return undefined;
    return this.#source.fileOf(this.#indexOf(step, options), options);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    requireClass(this, Sample);
    const options: SampleOptions = {
      length: this.#count,
      seed: this.#seed.given,
    };
    const source = argument(this.#source, "The dataset of Sample");
    return {
      module: import.meta.url,
      name: "Sample",
      how: "new",
      args: [source, options],
    };
  }

  /** Closes the dataset. */
  override close(): void {
    this.#source.close();
  }

  #indexOf(step: number, options: GetOptions): number {
    return new Random(this.#seed.for(options), step).int(this.#count);
  }
}
