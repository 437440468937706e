import { ArrangedDataset } from "../arranged_dataset.ts";
import type { Dataset, GetOptions } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { type Order, remembered } from "../samplers/sampler.ts";
import { RandomSampler } from "../samplers/whole_samplers.ts";
import { wholeNumber } from "../whole_numbers.ts";
import { countOf, requireSources } from "./ordered_sources.ts";

/**
 * A dataset repeated without end, by default in another order each epoch. Step `s` is a sample of epoch
 * `floor(s / length)`; every epoch has every sample once.
 *
 * The order is computed from the seed given here, the loader's seed and the epoch, so any step costs the same. The
 * dataset is read with the number of the epoch, so that its own random choices differ between epochs. A batch that
 * spans two epochs is two reads.
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
  /** Always `Infinity`. */
  override readonly length: number = Infinity;
  /** Number of steps in an epoch. */
  readonly epochLength: number;
  /** Orders depend on the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #options: {
    readonly length: number;
    readonly shuffle: boolean;
    readonly seed: number;
  };
  readonly #seed: (options: GetOptions) => number;
  readonly #passSeed = ownSeed("pass", 0);
  readonly #order: (seed: number, epoch?: number) => Order;

  /**
   * Makes the source.
   *
   * @throws {RangeError} If the dataset is empty, if it is endless and no `length` is given, or if an option is out
   * of range.
   */
  constructor(
    source: Dataset<T>,
    options: {
      /** Number of samples to use, from the start of the dataset. Defaults to all. */
      readonly length?: number | undefined;
      /** Whether each epoch has its own order. Defaults to `true`. */
      readonly shuffle?: boolean | undefined;
      /** Seed of the orders: a safe integer ≥ 0. Defaults to 0. */
      readonly seed?: number | undefined;
    } = {},
  ) {
    super([source]);
    const { length, shuffle = true, seed = 0 } = options;
    this.epochLength = countOf(length, source.length, "Epochs");
    this.#options = { length: this.epochLength, shuffle, seed };
    const sampler = new RandomSampler(this.epochLength);
    this.#order = remembered((seed, epoch) => sampler.order(seed, epoch));
    this.#seed = ownSeed("epochs", seed);
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const args = [...this.sourceArguments("The dataset"), this.#options];
    return recipeOf(this, Epochs, import.meta.url, args);
  }

  /** Returns the epoch as the part, and the index of the sample. */
  protected override placeOf(
    step: number,
    options: GetOptions,
  ): { readonly part: number; readonly index: number } {
    const epoch = Math.floor(step / this.epochLength);
    const position = step % this.epochLength;
    const index = this.#options.shuffle
      ? this.#order(this.#seed(options), epoch).at(position)
      : position;
    return { part: epoch, index };
  }

  /** Passes this source's epoch to the dataset. Later epochs of the loader get another seed. */
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

/**
 * Draws a random sample of a dataset at each step, with replacement. The draw depends on the step, the seed given
 * here and the loader's seed.
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
  /** Always `Infinity`. */
  override readonly length: number = Infinity;
  /** Draws depend on the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #options: { readonly length: number; readonly seed: number };
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes the source.
   *
   * @throws {RangeError} If the dataset is empty, if it is endless and no `length` is given, or if an option is out
   * of range.
   */
  constructor(
    source: Dataset<T>,
    options: {
      /** Number of samples to draw from, from the start of the dataset. Defaults to all. */
      readonly length?: number | undefined;
      /** Seed of the draws: a safe integer ≥ 0. Defaults to 0. */
      readonly seed?: number | undefined;
    } = {},
  ) {
    super([source]);
    const length = countOf(options.length, source.length, "Sample");
    this.#options = { length, seed: options.seed ?? 0 };
    this.#seed = ownSeed("sample", this.#options.seed);
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const args = [...this.sourceArguments("The dataset"), this.#options];
    return recipeOf(this, Sample, import.meta.url, args);
  }

  /** Returns the index that is drawn for the step. */
  protected override placeOf(
    step: number,
    options: GetOptions,
  ): { readonly part: number; readonly index: number } {
    const random = new Random(this.#seed(options), step);
    return { part: 0, index: random.int(this.#options.length) };
  }
}

/**
 * At each step, draws one of several sources by weight and takes its sample of the same step. The draw depends on
 * the step, the seed given here and the loader's seed.
 *
 * A source that is not drawn for a step skips it. To see all of a dataset, mix {@linkcode Sample}s, or
 * {@linkcode Epochs}, whose skipped samples come in a later epoch.
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
  /** Length of the shortest source; `Infinity` if all are endless. */
  override readonly length: number;
  /** Draws depend on the loader's seed. */
  protected override readonly isDrawn = true;
  readonly #weights: readonly number[];
  /** End of each source's share of [0, 1); 1 from the last source of positive weight on. */
  readonly #ends: readonly number[];
  readonly #ownSeed: number;
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes the source.
   *
   * @param weights Relative frequencies in any unit: 1 and 4 mean the same as 0.2 and 0.8.
   * @throws {RangeError} If there is no source, the number of weights differs from that of sources, a weight is
   * negative or not a number, or all weights are 0.
   */
  constructor(
    sources: readonly Dataset<T>[],
    weights: readonly number[],
    options: {
      /** Seed of the choices: a safe integer ≥ 0. Defaults to 0. */
      readonly seed?: number | undefined;
    } = {},
  ) {
    super(sources);
    requireSources(sources, "Mix");
    this.length = Math.min(...sources.map(({ length }) => length));
    this.#weights = [...weights];
    this.#ends = endsOf(weights, sources.length);
    this.#ownSeed = options.seed ?? 0;
    this.#seed = ownSeed("mix", this.#ownSeed);
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const sources = this.sourceArguments("Source");
    const args = [sources, this.#weights, { seed: this.#ownSeed }];
    return recipeOf(this, Mix, import.meta.url, args);
  }

  /** Returns the source that is drawn, and the same step. */
  protected override placeOf(
    step: number,
    options: GetOptions,
  ): { readonly part: number; readonly index: number } {
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
      "The weights of Mix must be from 0 on and not all 0, not " +
        `${weights.join(", ")}`,
    );
  }
  let end = 0;
  const last = weights.findLastIndex((weight) => weight > 0);
  // The shares may miss a sum of 1 by a rounding error, and a source of weight 0 must never be drawn.
  return weights.map((weight, i) => i < last ? (end += weight) / sum : 1);
}

/** Kinds of random sources. Different kinds draw differently even with equal seeds. */
const KINDS = ["epochs", "mix", "sample", "transform", "pass"] as const;

/** Upper bound of derived seeds, exclusive. */
const SEEDS = Number.MAX_SAFE_INTEGER;

/**
 * Returns a function that derives a source's seed from its own seed and the loader's seed and epoch. A change of
 * any of the three gives other numbers.
 *
 * @param given The source's own seed: a safe integer ≥ 0.
 * @throws {RangeError} If `given` is not a safe integer ≥ 0.
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
