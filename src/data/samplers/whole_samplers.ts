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
 * All samples in ascending order, the same in every epoch.
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
   * @throws {RangeError} If the length is not a whole number or `Infinity`.
   */
  constructor(source: number | { readonly length: number }) {
    this.length = lengthOf(source, true);
  }

  /** Returns all samples in ascending order, whatever the seed and the epoch. */
  order(_seed: number, _epoch: number): Order {
    return orderOf(this.length, (position) => position);
  }
}

/**
 * Samples in random order, which differs in every epoch. The order is computed, not stored: a billion samples take
 * no more memory than a thousand, and an epoch can start at any position at once.
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
   * @throws {RangeError} If the length or `numSamples` is not a valid number of samples, or the dataset is endless.
   */
  constructor(
    source: number | { readonly length: number },
    options: {
      /** Whether a sample may be drawn again before all others were. Defaults to `false`. */
      readonly replacement?: boolean;
      /**
       * Number of samples in an epoch: a whole number ≥ 0, or `Infinity`. Defaults to the length of the dataset. A
       * larger number adds passes, each in its own order.
       */
      readonly numSamples?: number;
    } = {},
  ) {
    this.#samples = lengthOf(source);
    this.#replacement = options.replacement ?? false;
    this.length = options.numSamples ?? this.#samples;
    if (this.length !== Infinity) wholeNumber(this.length, 0, "numSamples");
    if (this.#samples === 0 && this.length > 0) {
      throw new RangeError(
        `Cannot draw ${this.length} samples: the dataset is empty`,
      );
    }
  }

  /** Returns the order of an epoch: independent draws, or successive permutations of all samples. */
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
