import { permutation } from "../random/permutation.ts";
import { orderRandom } from "./orders.ts";
import { packIndices } from "./pack_indices.ts";
import type { Order, Sampler } from "./sampler.ts";

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
export class SubsetRandomSampler implements Sampler {
  /** Number of indices. */
  readonly length: number;
  readonly #indices: Uint32Array | Float64Array;

  /**
   * Copies the indices: 4 bytes each, or 8 where one of them is 2^32 or more.
   *
   * @param indices Whole numbers from 0 on; one that is there twice comes twice.
   * @throws {RangeError} If one of them is anything else.
   */
  constructor(indices: ArrayLike<number> | Iterable<number>) {
    this.#indices = packIndices(indices);
    this.length = this.#indices.length;
  }

  /** The order of an epoch. */
  order(seed: number, epoch: number): Order {
    const indices = this.#indices;
    const places = permutation(indices.length, orderRandom(seed, epoch));
    return {
      length: indices.length,
      at: (position) => indices[places.at(position)]!,
    };
  }
}
