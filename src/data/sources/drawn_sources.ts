import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset, GetOptions } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { type Order, remembered } from "../samplers/sampler.ts";
import { RandomSampler } from "../samplers/whole_samplers.ts";
import { wholeNumber } from "../whole_numbers.ts";
import { countOf, requireSources } from "./ordered_sources.ts";

/** Options of {@linkcode Epochs}. */
export interface EpochsOptions {
  /** Number of the dataset's samples that are in an epoch: the first so many. All, unless given. */
  readonly length?: number | undefined;
  /** True if each epoch has an order of its own. Defaults to `true`. */
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
  /** Number of steps an epoch has. */
  readonly epochLength: number;
  /** Orders follow from the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #options: EpochsOptions;
  readonly #seed: (options: GetOptions) => number;
  readonly #passSeed = ownSeed("pass", 0);
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
    this.#options = { length: this.epochLength, shuffle, seed };
    const sampler = new RandomSampler(this.epochLength);
    this.#order = remembered((seed, epoch) => sampler.order(seed, epoch));
    this.#seed = ownSeed("epochs", seed);
  }

  /** Recipe by which another thread makes this source. */
  override [RECIPE](): Recipe {
    const args = [...this.sourceArguments("The dataset"), this.#options];
    return recipeOf(this, Epochs, import.meta.url, args);
  }

  /** Each epoch is a part of its own. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    const epoch = Math.floor(step / this.epochLength);
    const position = step % this.epochLength;
    const index = this.#options.shuffle
      ? this.#order(this.#seed(options), epoch).at(position)
      : position;
    return { part: epoch, index };
  }

  /** The dataset's epochs are those here, and a loader's later ones have another seed. */
  protected override partOf(
    epoch: number,
    options: GetOptions,
  ): readonly [Dataset<T>, GetOptions] {
    const [source] = super.partOf(0, options);
    const isFirstPass = (options.epoch ?? 0) === 0;
    const seed = isFirstPass ? options.seed ?? 0 : this.#passSeed(options);
    return [source, { ...options, seed, epoch }];
  }
}

/** Options of {@linkcode Sample}. */
export interface SampleOptions {
  /** Number of the dataset's samples that are drawn from: the first so many. All, unless given. */
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
  /** Samples are drawn by the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #options: { readonly length: number; readonly seed: number };
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes a source of a dataset.
   *
   * @throws {RangeError} If the dataset is empty, or endless and no `length` is given, or an option is out
   * of range.
   */
  constructor(source: Dataset<T>, options: SampleOptions = {}) {
    super([source]);
    const length = countOf(options.length, source.length, "Sample");
    this.#options = { length, seed: options.seed ?? 0 };
    this.#seed = ownSeed("sample", this.#options.seed);
  }

  /** Recipe by which another thread makes this source. */
  override [RECIPE](): Recipe {
    const args = [...this.sourceArguments("The dataset"), this.#options];
    return recipeOf(this, Sample, import.meta.url, args);
  }

  /** The sample that is drawn. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    const random = new Random(this.#seed(options), step);
    return { part: 0, index: random.int(this.#options.length) };
  }
}

/** Options of {@linkcode Mix}. */
export interface MixOptions {
  /** A safe integer ≥ 0: other seeds, other choices. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * At each step one of several sources, drawn at random by their weights, which is asked for the same
 * step. Which one follows from the step, the seed given here, and the loader's.
 *
 * A source that is not drawn for a step has that step left out: to see all of a dataset, mix
 * {@linkcode Sample}s, or {@linkcode Epochs} whose steps that are left out come in a later epoch.
 *
 * @typeParam T What one sample is.
 *
 * @example One in five from the first
 * ```ts
 * import { Epochs, FFRecordDataset, Mix } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using few = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * using one = await FFRecordDataset.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const source = new Mix([new Epochs(few), new Epochs(one)], [0.2, 0.8], { seed: 1 });
 * const samples = await source.get(Array.from({ length: 1000 }, (_, step) => step));
 * const [rare] = await one.get([0]);
 * const share = samples.filter(({ length }) => length === rare!.length).length / 1000;
 * assert.ok(share > 0.7);
 * ```
 */
export class Mix<T> extends ArrangedDataset<T> {
  /** Number of steps that every source has; `Infinity` where none of them ends. */
  override readonly length: number;
  /** Sources are drawn by the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #weights: readonly number[];
  /** Where in [0, 1) each source's share ends; 1 from the last one on that has any. */
  readonly #ends: readonly number[];
  readonly #ownSeed: number;
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes a source of several.
   *
   * @param weights How often each is drawn, in any unit: 1 and 4 are as 0.2 and 0.8.
   * @throws {RangeError} If there are not as many weights as sources, or a weight is negative or no
   * number, or all are 0.
   */
  constructor(
    sources: readonly Dataset<T>[],
    weights: readonly number[],
    options: MixOptions = {},
  ) {
    super(sources);
    requireSources(sources, "Mix");
    this.length = Math.min(...sources.map(({ length }) => length));
    this.#weights = [...weights];
    this.#ends = endsOf(weights, sources.length);
    this.#ownSeed = options.seed ?? 0;
    this.#seed = ownSeed("mix", this.#ownSeed);
  }

  /** Recipe by which another thread makes this source. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("Source");
    const args = [sources, this.#weights, { seed: this.#ownSeed }];
    return recipeOf(this, Mix, import.meta.url, args);
  }

  /** The same step of the source that is drawn. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    const drawn = new Random(this.#seed(options), step).float();
    let source = 0;
    while (drawn >= this.#ends[source]!) source++;
    return { part: source, index: step };
  }
}

function endsOf(weights: readonly number[], sources: number): number[] {
  if (weights.length !== sources) {
    throw new RangeError(
      `Mix needs a weight for each source: there are ${sources}, and weights for ${weights.length}`,
    );
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const areShares = weights.every((weight) => weight >= 0) && sum > 0 &&
    sum < Infinity;
  if (!areShares) {
    throw new RangeError(
      `Mix needs weights from 0 on that are not all 0, not ${
        weights.join(", ")
      }`,
    );
  }
  let end = 0;
  const last = weights.findLastIndex((weight) => weight > 0);
  // The sum of the shares may miss 1 by a rounding error, and a source of weight 0 is never drawn.
  return weights.map((weight, i) => i < last ? (end += weight) / sum : 1);
}

/** Kinds of what draws: two sources of different kinds do not draw alike, though their seeds are the same. */
const KINDS = ["epochs", "mix", "sample", "transform", "pass"] as const;

/** Seeds are whole numbers below this. */
const SEEDS = Number.MAX_SAFE_INTEGER;

/**
 * The seed that a source draws with. It follows from the source's own seed and from what a batch is read
 * for, the loader's seed and epoch: whichever of them changes, other numbers come.
 *
 * @param kind What draws.
 * @param given The source's own: a safe integer ≥ 0.
 * @throws {RangeError} If that is none.
 */
export function ownSeed(
  kind: typeof KINDS[number],
  given: number,
): (options: GetOptions) => number {
  wholeNumber(given, 0, "The seed");
  const derived = remembered((seed, epoch) =>
    new Random(seed, epoch, given, KINDS.indexOf(kind)).int(SEEDS)
  );
  return ({ seed = 0, epoch = 0 }) => derived(seed, epoch);
}
