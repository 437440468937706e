import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import type { BatchOrder, Order } from "./sampler.ts";
import { type SamplerLike, samplerOf } from "./subset_samplers.ts";

/** Options of {@linkcode batchesOf}. */
export interface BatchOptions {
  /** Samples in a batch. */
  readonly batchSize: number;
  /** True if a last batch that would be smaller is left out; unless given, it is kept. */
  readonly dropLast?: boolean;
  /** Which of the `worldSize` trainers the batches are for, from 0; unless given, 0. */
  readonly rank?: number;
  /** Number of trainers that share the epoch; unless given, 1. */
  readonly worldSize?: number;
  /**
   * Whether positions from the start of the epoch are repeated until every rank has equally many,
   * so that all of them take as many steps; unless given, the first ranks may have one sample more
   * than the last.
   */
  readonly pad?: boolean;
}

/**
 * The batches of an order. Rank `r` of `worldSize` has the positions `r`, `r + worldSize` and so
 * on: the ranks together have every position once (with `pad`, some twice), whatever their batch
 * sizes.
 *
 * The indices of a batch are computed when they are asked for.
 *
 * @throws {RangeError} If an option is out of its range.
 *
 * @example The second of two trainers
 * ```ts
 * import { batchesOf, SequentialSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const order = new SequentialSampler(9).order(0, 0);
 * const batches = batchesOf(order, { batchSize: 3, rank: 1, worldSize: 2 });
 * assert.equal(batches.length, 2);
 * assert.deepEqual(batches.at(0), [1, 3, 5]);
 * assert.deepEqual(batches.at(1), [7]);
 * ```
 */
export function batchesOf(order: Order, options: BatchOptions): BatchOrder {
  const { batchSize, dropLast = false, rank = 0, worldSize = 1 } = options;
  checkShare(batchSize, rank, worldSize);
  if (order.length !== Infinity) {
    wholeNumber(order.length, 0, "The length of the sampler's order");
  }
  const shared = options.pad === true ? order.length : order.length - rank;
  const count = Math.max(0, Math.ceil(shared / worldSize)); // positions that are this rank's
  const batches = count / batchSize;
  const length = dropLast ? Math.floor(batches) : Math.ceil(batches);
  return {
    length,
    at(step) {
      checkPosition(step, length, "batch");
      const first = step * batchSize;
      const indices = new Array<number>(Math.min(batchSize, count - first));
      for (let i = 0; i < indices.length; i++) {
        const position = rank + (first + i) * worldSize;
        // Only what `pad` adds lies at or behind the end.
        indices[i] = order.at(
          position < order.length ? position : position % order.length,
        );
      }
      return indices;
    },
  };
}

/**
 * Checks which part of an epoch a batch is.
 *
 * @throws {RangeError} If a number is out of its range.
 */
export function checkShare(
  batchSize: number,
  rank: number,
  worldSize: number,
): void {
  wholeNumber(batchSize, 1, "batchSize");
  wholeNumber(worldSize, 1, "worldSize");
  wholeNumber(rank, 0, "rank");
  if (rank < worldSize) return;
  throw new RangeError(
    `A rank of ${rank} among ${worldSize}: ranks count from 0 to worldSize - 1`,
  );
}

/** Options of {@linkcode BatchSampler}. */
export type BatchSamplerOptions = Pick<BatchOptions, "batchSize" | "dropLast">;

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
