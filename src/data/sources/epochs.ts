import { Dataset, type GetOptions } from "../dataset.ts";
import { requireClass } from "../datasets/process.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import { RandomSampler } from "../samplers/random_sampler.ts";
import type { Order } from "../samplers/sampler.ts";
import { BatchParts } from "../batch_parts.ts";
import { OwnSeed } from "./own_seed.ts";
import { countOf, isStep, requireSteps } from "./steps.ts";

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
export class Epochs<T> extends Dataset<T> {
  /** There is no end of steps. */
  readonly length: number = Infinity;
  /** How many steps an epoch has. */
  readonly epochLength: number;
  readonly #source: Dataset<T>;
  readonly #shuffle: boolean;
  readonly #sampler: RandomSampler;
  readonly #seed: OwnSeed;
  readonly #passSeed: OwnSeed;
  #order: Order | undefined;
  #orderSeed = 0;
  #orderEpoch = 0;

  /**
   * Makes a source of a dataset.
   *
   * @throws {RangeError} If the dataset is empty, or endless and no `length` is given, or an option is out
   * of range.
   */
  constructor(source: Dataset<T>, options: EpochsOptions = {}) {
    super();
    const { length, shuffle = true, seed = 0 } = options;
    this.#source = source;
    this.epochLength = countOf(length, source.length, "Epochs");
    this.#shuffle = shuffle;
    this.#sampler = new RandomSampler(this.epochLength);
    this.#seed = new OwnSeed("epochs", seed);
    this.#passSeed = new OwnSeed("pass", 0);
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
    requireSteps(steps, Infinity, "Epochs");
    const parts = new BatchParts();
    for (const step of steps) {
      parts.add(this.#epochOf(step), this.#indexOf(step, options));
    }
    return await parts.read((epoch, indices) =>
      this.#source.get(indices, this.#optionsIn(epoch, options))
    );
  }

  /** The file that the sample of a step lies in, where it is said what the step is read for. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    if (options === undefined || !isStep(step, Infinity)) return undefined;
    return this.#source.fileOf(
      this.#indexOf(step, options),
      this.#optionsIn(this.#epochOf(step), options),
    );
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    requireClass(this, Epochs);
    const options: EpochsOptions = {
      length: this.epochLength,
      shuffle: this.#shuffle,
      seed: this.#seed.given,
    };
    const source = argument(this.#source, "The dataset of Epochs");
    return {
      module: import.meta.url,
      name: "Epochs",
      how: "new",
      args: [source, options],
    };
  }

  /** Closes the dataset. */
  override close(): void {
    this.#source.close();
  }

  #epochOf(step: number): number {
    return Math.floor(step / this.epochLength);
  }

  #indexOf(step: number, options: GetOptions): number {
    const position = step % this.epochLength;
    if (!this.#shuffle) return position;
    const seed = this.#seed.for(options);
    const epoch = this.#epochOf(step);
    if (
      this.#order === undefined || seed !== this.#orderSeed ||
      epoch !== this.#orderEpoch
    ) {
      this.#order = this.#sampler.order(seed, epoch);
      this.#orderSeed = seed;
      this.#orderEpoch = epoch;
    }
    return this.#order.at(position);
  }

  /** What the dataset is told: its epochs are those here, and a loader's later ones have another seed. */
  #optionsIn(epoch: number, options: GetOptions): GetOptions {
    const isFirstPass = (options.epoch ?? 0) === 0;
    const seed = isFirstPass ? options.seed ?? 0 : this.#passSeed.for(options);
    return { ...options, seed, epoch };
  }
}
