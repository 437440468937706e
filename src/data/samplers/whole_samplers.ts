import { permutation } from "../random/permutation.ts";
import { lengthOf, wholeNumber } from "../whole_numbers.ts";
import {
  type Order,
  orderOf,
  orderRandom,
  remembered,
  type Sampler,
} from "./sampler.ts";

/**
 * Every sample in its place, the same in every epoch.
 *
 * @example A thousand samples
 * ```ts
 * import { SequentialSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const order = new SequentialSampler(1000).order(0, 0);
 * assert.equal(order.length, 1000);
 * assert.equal(order.at(7), 7);
 * ```
 */
export class SequentialSampler implements Sampler {
  /** Number of samples. */
  readonly length: number;

  /**
   * Makes a sampler for a dataset.
   *
   * @param source The dataset, or its length; may be endless.
   * @throws {RangeError} If the length is no number of samples.
   */
  constructor(source: number | { readonly length: number }) {
    this.length = lengthOf(source, true);
  }

  /** The samples in their places, whatever the seed and the epoch. */
  order(_seed: number, _epoch: number): Order {
    return orderOf(this.length, (position) => position);
  }
}

/** Options of {@linkcode RandomSampler}. */
export interface RandomSamplerOptions {
  /** True if a sample may come again before all others have come; unless given, it may not. */
  readonly replacement?: boolean;
  /**
   * Number of samples in an epoch: `Infinity`, or from 0 on; unless given, as many as the dataset
   * has. If it is more than that, further passes follow, each in an order of its own.
   */
  readonly numSamples?: number;
}

/**
 * Samples in random order, another one in every epoch. The order is computed, not stored: a billion
 * samples take no more memory than a thousand, and an epoch starts anywhere at once.
 *
 * @example Each of a billion samples once
 * ```ts
 * import { RandomSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const sampler = new RandomSampler(1e9);
 * const index = sampler.order(42, 0).at(999_999_999);
 * assert.ok(index < 1e9);
 * assert.equal(sampler.order(42, 0).at(999_999_999), index);
 * ```
 *
 * @example A hundred draws out of ten, repeats allowed
 * ```ts
 * import { RandomSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const sampler = new RandomSampler(10, { replacement: true, numSamples: 100 });
 * assert.ok(sampler.order(42, 0).at(99) < 10);
 * ```
 */
export class RandomSampler implements Sampler {
  /** Number of samples in an epoch. */
  readonly length: number;
  /** Number of samples to draw from. */
  readonly #samples: number;
  readonly #replacement: boolean;

  /**
   * Makes a sampler for a dataset.
   *
   * @param source The dataset, or its length.
   * @throws {RangeError} If the length or `numSamples` is no number of samples, or the dataset
   * never ends.
   */
  constructor(
    source: number | { readonly length: number },
    options: RandomSamplerOptions = {},
  ) {
    this.#samples = lengthOf(source);
    this.#replacement = options.replacement ?? false;
    this.length = options.numSamples ?? this.#samples;
    if (this.length !== Infinity) wholeNumber(this.length, 0, "numSamples");
    if (this.#samples === 0 && this.length > 0) {
      throw new RangeError(
        `There is no sample to draw ${this.length} from: the dataset is empty`,
      );
    }
  }

  /** The order of an epoch: drawn, or one permutation of all samples after another. */
  order(seed: number, epoch: number): Order {
    const { length } = this;
    const samples = this.#samples;
    if (this.#replacement) {
      return orderOf(
        length,
        (position) => orderRandom(seed, epoch, position).int(samples),
      );
    }
    const passOf = (pass: number) =>
      permutation(samples, orderRandom(seed, epoch, pass));
    const first = passOf(0);
    const later = remembered(passOf);
    return orderOf(
      length,
      (position) =>
        position < samples
          ? first.at(position)
          : later(Math.floor(position / samples)).at(position % samples),
    );
  }
}
