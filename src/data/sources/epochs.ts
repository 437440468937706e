import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset, GetOptions } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { RandomSampler } from "../samplers/whole_samplers.ts";
import { type Order, remembered } from "../samplers/sampler.ts";
import { countOf } from "./count_of.ts";
import { OwnSeed } from "./own_seed.ts";

/** Options of {@linkcode Epochs}. */
export interface EpochsOptions {
  /** How many of the dataset's samples are in an epoch: the first so many. All, unless given. */
  readonly length?: number | undefined;
  /** Whether each epoch has an order of its own. Defaults to `true`. */
  readonly shuffle?: boolean | undefined;
  /** A safe integer ≥ 0: other seeds, other orders. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * A dataset again and again, each time in another order: step `s` is a sample of epoch
 * `floor(s / length)`, and in each epoch every sample comes once.
 *
 * The order follows from the seed given here, the loader's seed, and the number of the epoch; it is
 * computed, so any step costs the same. The dataset is told the number of the epoch, so that what it
 * draws itself differs from one to the next; a batch that reaches into the next epoch is two reads of it.
 *
 * @typeParam T What one sample is.
 *
 * @example Three epochs of four samples
 * ```ts
 * import { Epochs, FFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * const source = new Epochs(dataset, { seed: 1 });
 * assert.equal(source.length, Infinity);
 * const n = dataset.length;
 * const steps = Array.from({ length: 3 * n }, (_, step) => step);
 * const samples = await source.get(steps);
 * const sizes = (epoch: number) => samples.slice(epoch * n, epoch * n + n).map(({ length }) => length);
 * assert.deepEqual(sizes(0).toSorted(), sizes(2).toSorted());
 * ```
 */
export class Epochs<T> extends ArrangedDataset<T> {
  /** There is no end of steps. */
  override readonly length: number = Infinity;
  /** How many steps an epoch has. */
  readonly epochLength: number;
  readonly #shuffle: boolean;
  readonly #seed: OwnSeed;
  readonly #passSeed: OwnSeed;
  readonly #order: (seed: number, epoch?: number) => Order;

  /**
   * Makes a source of a dataset.
   *
   * @throws {RangeError} If the dataset is empty, or endless and no `length` is given, or an option is out
   * of range.
   */
  constructor(source: Dataset<T>, options: EpochsOptions = {}) {
    super([source]);
    const { length, shuffle = true, seed = 0 } = options;
    this.epochLength = countOf(length, source.length, "Epochs");
    this.#shuffle = shuffle;
    const sampler = new RandomSampler(this.epochLength);
    this.#order = remembered((seed, epoch) => sampler.order(seed, epoch));
    this.#seed = new OwnSeed("epochs", seed);
    this.#passSeed = new OwnSeed("pass", 0);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const options: EpochsOptions = {
      length: this.epochLength,
      shuffle: this.#shuffle,
      seed: this.#seed.given,
    };
    const sources = this.sourceArguments("The dataset");
    return recipeOf(this, Epochs, import.meta.url, [...sources, options]);
  }

  /** Each epoch is a part of its own. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    return { part: this.#epochOf(step), index: this.#indexOf(step, options) };
  }

  /** The dataset's epochs are those here, and a loader's later ones have another seed. */
  protected override partOf(
    epoch: number,
    options: GetOptions,
  ): readonly [Dataset<T>, GetOptions] {
    const [source] = super.partOf(0, options);
    const isFirstPass = (options.epoch ?? 0) === 0;
    const seed = isFirstPass ? options.seed ?? 0 : this.#passSeed.for(options);
    return [source, { ...options, seed, epoch }];
  }

  /** Orders follow from the loader's seed. */
  protected override get isDrawn(): boolean {
    return true;
  }

  #epochOf(step: number): number {
    return Math.floor(step / this.epochLength);
  }

  #indexOf(step: number, options: GetOptions): number {
    const position = step % this.epochLength;
    if (!this.#shuffle) return position;
    const seed = this.#seed.for(options);
    const epoch = this.#epochOf(step);
    return this.#order(seed, epoch).at(position);
  }
}
