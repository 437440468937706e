import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import type { Order, Sampler } from "./sampler.ts";
import { samplerOf } from "./subset_samplers.ts";

/**
 * Cuts an order into batches. Rank `r` of `worldSize` gets the positions `r`, `r + worldSize` and so on. Together
 * the ranks have every position once (with `pad`, some twice), whatever their batch sizes.
 *
 * The indices of a batch are computed on demand.
 *
 * @throws {RangeError} If an option is out of range.
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
export function batchesOf(
  order: Order,
  options: {
    /** Samples per batch. */
    readonly batchSize: number;
    /** Whether to drop a smaller last batch. Defaults to `false`. */
    readonly dropLast?: boolean;
    /** Rank of the trainer that the batches are for, from 0 to `worldSize - 1`. Defaults to 0. */
    readonly rank?: number;
    /** Number of trainers that share the epoch. Defaults to 1. */
    readonly worldSize?: number;
    /**
     * Whether to repeat positions from the start of the epoch until all ranks have equally many, and so take equally
     * many steps. By default the first ranks may have one sample more than the last.
     */
    readonly pad?: boolean;
  },
): Order<number[]> {
  const { batchSize, dropLast = false, rank = 0, worldSize = 1 } = options;
  checkShare(batchSize, rank, worldSize);
  if (order.length !== Infinity) {
    wholeNumber(order.length, 0, "The length of the sampler's order");
  }
  const shared = options.pad === true ? order.length : order.length - rank;
  const count = Math.max(0, Math.ceil(shared / worldSize)); // positions of this rank
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
        // Only positions added by `pad` are at or beyond the end.
        indices[i] = order.at(
          position < order.length ? position : position % order.length,
        );
      }
      return indices;
    },
  };
}

/** @throws {RangeError} If a number is out of range. */
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
    `rank must be from 0 to worldSize - 1, not ${rank} of ${worldSize}`,
  );
}

/**
 * Determines which indices make a batch, for cases that a loader's `batchSize` and sampler cannot express. This
 * class cuts a sampler's order into batches. Any object with `length` and `order` is a batch sampler too.
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
  /** Number of batches in an epoch; `Infinity` if it never ends. */
  readonly length: number;
  /** Returns the batches of an epoch, which depend only on the seed and the epoch. */
  readonly order: (seed: number, epoch: number) => Order<number[]>;

  /**
   * Makes a batch sampler.
   *
   * @param sampler Sampler to cut into batches, or the ordered indices of every epoch.
   * @throws {RangeError} If `batchSize` is not a whole number ≥ 1.
   */
  constructor(
    sampler: Sampler | ArrayLike<number> | Iterable<number>,
    options: {
      /** Samples per batch. */
      readonly batchSize: number;
      /** Whether to drop a smaller last batch. Defaults to `false`. */
      readonly dropLast?: boolean;
    },
  ) {
    const whole = samplerOf(sampler);
    const { batchSize, dropLast = false } = options;
    const cut = { batchSize, dropLast };
    this.length = batchesOf({ length: whole.length, at: Number }, cut).length;
    // No private fields: they would make the type nominal, and objects of the same shape not assignable to it.
    this.order = (seed, epoch) => batchesOf(whole.order(seed, epoch), cut);
  }
}
