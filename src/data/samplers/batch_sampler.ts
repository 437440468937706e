import { type SamplerLike, samplerOf } from "./as_sampler.ts";
import { batchesOf } from "./batch_order.ts";
import type { BatchOrder } from "./sampler.ts";

/** How a {@linkcode BatchSampler} cuts. */
export interface BatchSamplerOptions {
  /** Samples in a batch. */
  readonly batchSize: number;
  /** Whether a last batch that would be smaller is left out; unless given, it is kept. */
  readonly dropLast?: boolean;
}

/**
 * Says which indices make a batch; for what a loader's `batchSize` and sampler cannot say. This one
 * cuts a sampler's order into batches; whatever else has `length` and `order` is a batch sampler
 * too.
 *
 * @example Batches of three
 * ```ts
 * import { BatchSampler, SequentialSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const sampler = new BatchSampler(new SequentialSampler(10), { batchSize: 3 });
 * assert.equal(sampler.length, 4);
 * assert.deepEqual(sampler.order(0, 0).at(3), [9]);
 * ```
 *
 * @example One of your own: batches of neighbours, the last ones first
 * ```ts
 * import type { BatchSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const backwards: BatchSampler = {
 *   length: 100,
 *   order: () => ({ length: 100, at: (step) => [198 - 2 * step, 199 - 2 * step] }),
 * };
 * assert.deepEqual(backwards.order(0, 0).at(99), [0, 1]);
 * ```
 */
export class BatchSampler {
  /** Number of batches in an epoch; `Infinity` where it never ends. */
  readonly length: number;
  /** The batches of an epoch, a function of the seed and the epoch only. */
  readonly order: (seed: number, epoch: number) => BatchOrder;

  /**
   * Makes a sampler of batches.
   *
   * @param sampler What is cut, or the indices of every epoch in their order.
   * @throws {RangeError} If `batchSize` is not a whole number from 1 on.
   */
  constructor(sampler: SamplerLike, options: BatchSamplerOptions) {
    const whole = samplerOf(sampler);
    const { batchSize, dropLast = false } = options;
    const cut = { batchSize, dropLast };
    this.length = batchesOf({ length: whole.length, at: Number }, cut).length;
    // No private field: objects that are like this class are of its type only so.
    this.order = (seed, epoch) => batchesOf(whole.order(seed, epoch), cut);
  }
}
