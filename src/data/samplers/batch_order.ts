import type { BatchOrder, Order } from "./sampler.ts";
import { checkPosition, wholeNumber } from "../whole_numbers.ts";

/** How an epoch is cut into batches. */
export interface BatchOptions {
  /** Samples in a batch. */
  readonly batchSize: number;
  /** Whether a last batch that would be smaller is left out; unless given, it is kept. */
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
  return new RankBatches(order, options);
}

class RankBatches implements BatchOrder {
  readonly length: number;
  readonly #order: Order;
  readonly #batchSize: number;
  readonly #rank: number;
  readonly #worldSize: number;
  /** Number of positions that are this rank's. */
  readonly #count: number;

  constructor(order: Order, options: BatchOptions) {
    const { batchSize, dropLast = false, rank = 0, worldSize = 1 } = options;
    wholeNumber(batchSize, 1, "batchSize");
    wholeNumber(worldSize, 1, "worldSize");
    wholeNumber(rank, 0, "rank");
    if (rank >= worldSize) {
      throw new RangeError(
        `A rank of ${rank} among ${worldSize}: ranks count from 0 to worldSize - 1`,
      );
    }
    if (order.length !== Infinity) {
      wholeNumber(order.length, 0, "The length of the sampler's order");
    }
    const shared = options.pad === true ? order.length : order.length - rank;
    this.#count = Math.max(0, Math.ceil(shared / worldSize));
    const batches = this.#count / batchSize;
    this.length = dropLast ? Math.floor(batches) : Math.ceil(batches);
    this.#order = order;
    this.#batchSize = batchSize;
    this.#rank = rank;
    this.#worldSize = worldSize;
  }

  at(step: number): number[] {
    checkPosition(step, this.length, "batch");
    const order = this.#order;
    const first = step * this.#batchSize;
    const size = Math.min(this.#batchSize, this.#count - first);
    const indices = new Array<number>(size);
    for (let i = 0; i < size; i++) {
      const position = this.#rank + (first + i) * this.#worldSize;
      // Only what `pad` adds lies at or behind the end.
      indices[i] = order.at(
        position < order.length ? position : position % order.length,
      );
    }
    return indices;
  }
}
