import { packIndices } from "./pack_indices.ts";
import { orderOf } from "./orders.ts";
import type { Order, Sampler } from "./sampler.ts";

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
