import { lengthOf } from "../whole_numbers.ts";
import { orderOf } from "./orders.ts";
import type { Order, Sampler } from "./sampler.ts";

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
