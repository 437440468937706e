import { wholeNumber } from "../whole_numbers.ts";
import { type Order, orderOf, orderRandom, type Sampler } from "./sampler.ts";

/**
 * Draws samples by weight: one of weight 3 is three times as likely as one of weight 1, and one of weight 0 is
 * never drawn. Useful for datasets with rare classes.
 *
 * With replacement, a draw costs the same at any position and for any number of samples. Without it, each draw is
 * weighted among the remaining samples, and all draws of an epoch are made at its start, by sorting all samples.
 *
 * @example Every class as often, though one has three samples and the other one
 * ```ts
 * import { WeightedRandomSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const labels = ["cat", "cat", "cat", "dog"];
 * const weights = labels.map((label) => label === "cat" ? 1 / 3 : 1);
 * const order = new WeightedRandomSampler(weights, 1000).order(42, 0);
 * let dogs = 0;
 * for (let i = 0; i < order.length; i++) dogs += order.at(i) === 3 ? 1 : 0;
 * assert.ok(dogs > 400 && dogs < 600);
 * ```
 */
export class WeightedRandomSampler implements Sampler {
  /** Number of draws in an epoch. */
  readonly length: number;
  readonly #weights: Float64Array;
  readonly #table: WeightTable | undefined;

  /**
   * Makes a sampler for as many samples as there are weights.
   *
   * @param weights Weight of each sample, ≥ 0, with any sum. They are copied.
   * @param numSamples Number of draws in an epoch; with replacement it may be `Infinity`.
   * @throws {RangeError} If a weight is not a finite number ≥ 0, or there are not enough samples to draw.
   */
  constructor(
    weights: ArrayLike<number>,
    numSamples: number,
    options: {
      /** Whether a sample may be drawn repeatedly. Defaults to `true`. */
      readonly replacement?: boolean;
    } = {},
  ) {
    const { replacement = true } = options;
    this.length = numSamples;
    this.#weights = new Float64Array(weights);
    const drawable = checkWeights(this.#weights);
    if (!(replacement && numSamples === Infinity)) {
      wholeNumber(numSamples, 0, "numSamples");
    }
    if (numSamples > 0 && drawable === 0) {
      throw new RangeError(
        "Cannot draw samples: none has a weight above 0",
      );
    }
    if (numSamples > drawable && !replacement) {
      throw new RangeError(
        `Cannot draw ${numSamples} samples without replacement: only ` +
          `${drawable} have a weight above 0`,
      );
    }
    if (replacement) this.#table = new WeightTable(this.#weights);
  }

  /** Returns the draws of an epoch. */
  order(seed: number, epoch: number): Order {
    const table = this.#table;
    if (table === undefined) {
      return drawnWithout(this.#weights, this.length, seed, epoch);
    }
    return orderOf(
      this.length,
      (position) => table.at(orderRandom(seed, epoch, position).float()),
    );
  }
}

/** Checks weights and returns how many are above 0. */
function checkWeights(weights: Float64Array): number {
  let drawable = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    if (!(weight >= 0 && weight < Infinity)) {
      throw new RangeError(
        `The weight of sample ${i} must be a number from 0 on, not ` +
          `${weight}`,
      );
    }
    if (weight > 0) drawable++;
  }
  return drawable;
}

/**
 * Draws without replacement: each sample gets an exponentially distributed time with its weight as the rate, and
 * the shortest times are drawn (Efraimidis and Spirakis, 2006). V8 computes logarithms by itself, so they are the
 * same on every machine.
 */
function drawnWithout(
  weights: Float64Array,
  length: number,
  seed: number,
  epoch: number,
): Order {
  const random = orderRandom(seed, epoch);
  const times = new Float64Array(weights.length);
  for (let i = 0; i < times.length; i++) {
    const time = -Math.log(1 - random.float()) / weights[i]!;
    times[i] = weights[i] === 0 ? Infinity : time;
  }
  const drawn = Uint32Array.from(times.keys())
    .sort((a, b) => times[a]! - times[b]! || a - b)
    .slice(0, length);
  return orderOf(length, (position) => drawn[position]!);
}

/**
 * Maps a random number to a sample that has a share of [0, 1) by its weight. Inverse transform sampling with a
 * guide table (Chen and Asau, 1974): a few steps on average, for any number of samples, and at most 12 bytes a
 * sample.
 */
export class WeightTable {
  /** Cumulative sums of the weights. */
  readonly #sums: Float64Array;
  readonly #total: number;
  /** First sample of each of `#parts` equal parts of [0, 1), followed by the last sample that can be drawn. */
  readonly #guide: Uint32Array;
  /** Number of parts: a power of two, so that rounding never moves a number into another part. */
  readonly #parts: number;

  /**
   * @param weights Numbers ≥ 0, at least one of them above 0 if `at` is called.
   * @throws {RangeError} If their sum is infinite.
   */
  constructor(weights: Float64Array) {
    const sums = new Float64Array(weights.length);
    let total = 0;
    let last = 0;
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]! > 0) last = i;
      sums[i] = total += weights[i]!;
    }
    if (total === Infinity) {
      throw new RangeError(
        "The sum of the weights must be a number: give smaller ones",
      );
    }
    this.#sums = sums;
    this.#total = total;
    this.#parts = 2 ** (31 - Math.clz32(weights.length | 1));
    this.#guide = new Uint32Array(this.#parts + 1).fill(last);
    let sample = 0;
    for (let part = 0; part < this.#parts; part++) {
      const start = part / this.#parts * total;
      while (sample < last && sums[sample]! <= start) sample++;
      this.#guide[part] = sample;
    }
  }

  /**
   * Returns the sample that a number maps to; never one of weight 0.
   *
   * @param number In [0, 1).
   */
  at(number: number): number {
    const sums = this.#sums;
    const part = Math.floor(number * this.#parts);
    const sought = number * this.#total;
    let low = this.#guide[part]!;
    let high = this.#guide[part + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! > sought) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
