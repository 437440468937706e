import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset, GetOptions } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { countOf } from "./count_of.ts";
import { OwnSeed } from "./own_seed.ts";

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
export class Sample<T> extends ArrangedDataset<T> {
  /** There is no end of steps. */
  override readonly length: number = Infinity;
  readonly #count: number;
  readonly #seed: OwnSeed;

  /**
   * Makes a source of a dataset.
   *
   * @throws {RangeError} If the dataset is empty, or endless and no `length` is given, or an option is out
   * of range.
   */
  constructor(source: Dataset<T>, options: SampleOptions = {}) {
    super([source]);
    this.#count = countOf(options.length, source.length, "Sample");
    this.#seed = new OwnSeed("sample", options.seed ?? 0);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const options = { length: this.#count, seed: this.#seed.given };
    const sources = this.sourceArguments("The dataset");
    return recipeOf(this, Sample, import.meta.url, [...sources, options]);
  }

  /** The sample that is drawn. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    const random = new Random(this.#seed.for(options), step);
    return { part: 0, index: random.int(this.#count) };
  }

  /** Samples are drawn by the loader's seed. */
  protected override get isDrawn(): boolean {
    return true;
  }
}
