import { permutation } from "../random/permutation.ts";
import {
  type Order,
  orderOf,
  orderRandom,
  requireSample,
  type Sampler,
} from "./sampler.ts";

/**
 * Given indices in their order, the same in every epoch. A list of indices as a loader's sampler means this.
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
   * Copies the indices: 4 bytes each, or 8 if one of them is 2^32 or more.
   *
   * @param indices Whole numbers ≥ 0; repeats are allowed.
   * @throws {RangeError} If an index is not a whole number ≥ 0.
   */
  constructor(indices: ArrayLike<number> | Iterable<number>) {
    this.#indices = packIndices(indices);
    this.length = this.#indices.length;
  }

  /** Returns the indices in their order, whatever the seed and the epoch. */
  order(_seed: number, _epoch: number): Order {
    const indices = this.#indices;
    return orderOf(indices.length, (position) => indices[position]!);
  }
}

/**
 * Given indices in random order, which differs in every epoch.
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
  /** Returns the order of an epoch. */
  override order(seed: number, epoch: number): Order {
    const given = super.order(seed, epoch);
    const places = permutation(this.length, orderRandom(seed, epoch));
    const { length } = this;
    return { length, at: (position) => given.at(places.at(position)) };
  }
}

/** A sampler, or the ordered indices of every epoch. */
export type SamplerLike = Sampler | ArrayLike<number> | Iterable<number>;

/**
 * Returns a sampler whose indices are checked against the length of a dataset.
 *
 * @param sampler Sampler or indices. Indices are copied; an iterable is read to its end.
 * @param length Number of samples in the dataset; may be `Infinity`.
 * @throws {TypeError} If `sampler` is neither a sampler nor a list of indices.
 * @throws {RangeError} If a given index is not a whole number ≥ 0.
 * @throws {DataError} With code `bad-batch`, from the order, when it gives an index that the dataset does not have.
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
 * Returns a sampler, made of the indices if a list is given.
 *
 * @throws {TypeError} If `sampler` is neither a sampler nor a list of indices.
 */
export function samplerOf(sampler: SamplerLike): Sampler {
  if (isSampler(sampler)) return sampler;
  if (isList(sampler)) return new SubsetSampler(sampler);
  throw new TypeError(
    "A sampler must be an object with length and order(seed, epoch), or a list of indices",
  );
}

function isSampler(value: SamplerLike): value is Sampler {
  return typeof value === "object" && value !== null && "order" in value &&
    typeof value.order === "function";
}

/**
 * Copies indices to an array of 4 bytes each, or 8 if one of them is 2^32 or more.
 *
 * @throws {TypeError} If `indices` is not a list.
 * @throws {RangeError} If an index is not a whole number ≥ 0.
 */
function packIndices(
  indices: ArrayLike<number> | Iterable<number>,
): Uint32Array | Float64Array {
  if (!isList(indices)) {
    throw new TypeError(
      "A list of indices must be an array, or iterable",
    );
  }
  const list = "length" in indices ? indices : [...indices];
  let greatest = 0;
  for (let i = 0; i < list.length; i++) {
    const index = list[i]!;
    if (!Number.isSafeInteger(index) || index < 0) {
      throw new RangeError(
        `The index at position ${i} must be a whole number from 0 on, not ` +
          `${String(index)}`,
      );
    }
    if (index > greatest) greatest = index;
  }
  return greatest < 2 ** 32 ? new Uint32Array(list) : new Float64Array(list);
}

function isList(
  value: unknown,
): value is ArrayLike<number> | Iterable<number> {
  return typeof value === "object" && value !== null &&
    ("length" in value || Symbol.iterator in value);
}
