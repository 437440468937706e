import { type Permutation, permutation } from "../random/permutation.ts";
import { checkPosition, lengthOf, wholeNumber } from "../whole_numbers.ts";
import { drawnOrder, orderRandom } from "./orders.ts";
import type { Order, Sampler } from "./sampler.ts";

/** How a {@linkcode RandomSampler} draws. */
export interface RandomSamplerOptions {
  /** Whether a sample may come again before all others have come; unless given, it may not. */
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

  /** The order of an epoch. */
  order(seed: number, epoch: number): Order {
    if (this.#replacement) {
      const samples = this.#samples;
      return drawnOrder(
        this.length,
        seed,
        epoch,
        (random) => random.int(samples),
      );
    }
    return new PassesOrder(this.length, this.#samples, seed, epoch);
  }
}

/** One permutation of all samples after another. */
class PassesOrder implements Order {
  readonly length: number;
  readonly #samples: number;
  readonly #seed: number;
  readonly #epoch: number;
  /** The pass that was last asked for. */
  #pass = 0;
  #permutation: Permutation;

  constructor(length: number, samples: number, seed: number, epoch: number) {
    this.length = length;
    this.#samples = samples;
    this.#seed = seed;
    this.#epoch = epoch;
    this.#permutation = this.#permutationOf(0);
  }

  at(position: number): number {
    checkPosition(position, this.length);
    if (position < this.#samples && this.#pass === 0) {
      return this.#permutation.at(position);
    }
    const pass = Math.floor(position / this.#samples);
    if (pass !== this.#pass) {
      this.#permutation = this.#permutationOf(pass);
      this.#pass = pass;
    }
    return this.#permutation.at(position % this.#samples);
  }

  #permutationOf(pass: number): Permutation {
    return permutation(
      this.#samples,
      orderRandom(this.#seed, this.#epoch, pass),
    );
  }
}
