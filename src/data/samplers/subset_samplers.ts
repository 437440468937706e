import { permutation } from "../random/permutation.ts";
import {
  type Order,
  orderOf,
  orderRandom,
  requireSample,
  type Sampler,
} from "./sampler.ts";

/**
 * Given indices in their order, the same in every epoch: what a list of indices as a loader's
 * sampler means.
 *
 * @example Three samples, one of them twice
 * ```ts
 * import { SubsetSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const order = new SubsetSampler([7, 2, 7, 4]).order(0, 0);
 * assert.equal(order.length, 4);
 * assert.equal(order.at(1), 2);
 * ```
 */
export class SubsetSampler implements Sampler {
  /** Number of indices. */
  readonly length: number;
  readonly #indices: Uint32Array | Float64Array;

  /**
   * Copies the indices: 4 bytes each, or 8 where one of them is 2^32 or more.
   *
   * @param indices Whole numbers from 0 on; repeats are allowed.
   * @throws {RangeError} If one of them is anything else.
   */
  constructor(indices: ArrayLike<number> | Iterable<number>) {
    this.#indices = packIndices(indices);
    this.length = this.#indices.length;
  }

  /** The indices in their order, whatever the seed and the epoch. */
  order(_seed: number, _epoch: number): Order {
    const indices = this.#indices;
    return orderOf(indices.length, (position) => indices[position]!);
  }
}

/**
 * Given indices in random order, another one in every epoch.
 *
 * @example Half of a dataset, to hold the other half out
 * ```ts
 * import { SubsetRandomSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const order = new SubsetRandomSampler([0, 2, 4, 6, 8]).order(42, 0);
 * assert.equal(order.length, 5);
 * assert.equal(order.at(0) % 2, 0);
 * ```
 */
export class SubsetRandomSampler extends SubsetSampler {
  /** The order of an epoch. */
  override order(seed: number, epoch: number): Order {
    const given = super.order(seed, epoch);
    const places = permutation(this.length, orderRandom(seed, epoch));
    const { length } = this;
    return { length, at: (position) => given.at(places.at(position)) };
  }
}

/** Sampler of a loader: one, or the indices of every epoch in their order. */
export type SamplerLike = Sampler | ArrayLike<number> | Iterable<number>;

/**
 * The sampler that is meant, held to a dataset: every index it gives is checked against the length.
 *
 * @param sampler Indices are copied; an iterable is read to its end.
 * @param length Number of samples in the dataset; may be `Infinity`.
 * @throws {TypeError} If it is none of the three.
 * @throws {RangeError} If one of the given indices is not a whole number from 0 on.
 * @throws {DataError} With code `bad-batch` when an index is asked for that the dataset does not
 * have.
 */
export function asSampler(sampler: SamplerLike, length: number): Sampler {
  const given = samplerOf(sampler);
  return {
    length: given.length,
    order(seed, epoch) {
      const order = given.order(seed, epoch);
      return {
        length: order.length,
        at(position) {
          const index = order.at(position);
          requireSample(index, length, "sampler", position);
          return index;
        },
      };
    },
  };
}

/**
 * The sampler that is meant.
 *
 * @throws {TypeError} If it is neither a sampler nor a list of indices.
 */
export function samplerOf(sampler: SamplerLike): Sampler {
  if (isSampler(sampler)) return sampler;
  if (isList(sampler)) return new SubsetSampler(sampler);
  throw new TypeError(
    "This is no sampler: give an object with length and order(seed, epoch), or a list of indices",
  );
}

function isSampler(value: SamplerLike): value is Sampler {
  return typeof value === "object" && value !== null && "order" in value &&
    typeof value.order === "function";
}

/**
 * Copies indices into few bytes.
 *
 * @returns 4 bytes an index, or 8 if one of them is 2^32 or more.
 * @throws {TypeError} If it is no list of numbers.
 * @throws {RangeError} If one of them is not a whole number from 0 on.
 */
function packIndices(
  indices: ArrayLike<number> | Iterable<number>,
): Uint32Array | Float64Array {
  if (!isList(indices)) {
    throw new TypeError(
      "This is no list of indices: give an array, or what can be iterated",
    );
  }
  const list = "length" in indices ? indices : [...indices];
  let greatest = 0;
  for (let i = 0; i < list.length; i++) {
    const index = list[i]!;
    if (!Number.isSafeInteger(index) || index < 0) {
      throw new RangeError(
        `Index ${String(index)} at position ${i}: give whole numbers from 0 on`,
      );
    }
    if (index > greatest) greatest = index;
  }
  return greatest < 2 ** 32 ? new Uint32Array(list) : new Float64Array(list);
}

/** True if a value is an object with a length, or one that can be iterated. */
function isList(
  value: unknown,
): value is ArrayLike<number> | Iterable<number> {
  return typeof value === "object" && value !== null &&
    ("length" in value || Symbol.iterator in value);
}
