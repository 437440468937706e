import { type Permutation, permutation } from "../random/permutation.ts";
import { checkPosition, lengthOf, wholeNumber } from "../whole_numbers.ts";
import { orderRandom } from "./orders.ts";
import type { Order, Sampler } from "./sampler.ts";

/** How a {@linkcode BlockShuffleSampler} shuffles. */
export interface BlockShuffleOptions {
  /** Samples in a block: neighbours, which a disk reads at once. */
  readonly blockSize: number;
  /** How many blocks are shuffled together; unless given, 16. */
  readonly buffer?: number;
}

/**
 * Samples in random order that is kind to disks: blocks of neighbours come in random order, and
 * only the samples of `buffer` blocks at a time are shuffled among each other. So `blockSize` times
 * `buffer` samples that follow each other come from `buffer` places of the file; with a full
 * shuffle, each comes from a place of its own.
 *
 * The larger `buffer` is, the better are the samples of a batch mixed. The order is computed, not
 * stored. Every sample comes once in an epoch, and the blocks and groups of blocks are others in
 * every one.
 *
 * @example Blocks of 1,000 samples, of which 32 are mixed at a time
 * ```ts
 * import { BlockShuffleSampler } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const sampler = new BlockShuffleSampler(1e9, { blockSize: 1000, buffer: 32 });
 * const order = sampler.order(42, 0);
 * const blocks = new Set<number>();
 * for (let i = 0; i < 32_000; i++) blocks.add(Math.floor(order.at(i) / 1000));
 * assert.equal(blocks.size, 32);
 * ```
 */
export class BlockShuffleSampler implements Sampler {
  /** Number of samples. */
  readonly length: number;
  readonly #blockSize: number;
  readonly #buffer: number;

  /**
   * Makes a sampler for a dataset.
   *
   * @param source The dataset, or its length.
   * @throws {RangeError} If a number is not a whole one, or the dataset never ends.
   */
  constructor(
    source: number | { readonly length: number },
    options: BlockShuffleOptions,
  ) {
    this.length = lengthOf(source);
    this.#blockSize = options.blockSize;
    this.#buffer = options.buffer ?? 16;
    wholeNumber(this.#blockSize, 1, "blockSize");
    wholeNumber(this.#buffer, 1, "buffer");
  }

  /** The order of an epoch. */
  order(seed: number, epoch: number): Order {
    return new BlockOrder(
      this.length,
      this.#blockSize,
      this.#buffer,
      seed,
      epoch,
    );
  }
}

class BlockOrder implements Order {
  readonly length: number;
  readonly #blockSize: number;
  readonly #buffer: number;
  readonly #seed: number;
  readonly #epoch: number;
  /** The order of the blocks. */
  readonly #blocks: Permutation;
  /** By how many samples the last block is too short. */
  readonly #missing: number;
  /** Where that block stands in the order of blocks. */
  readonly #shortPlace: number;
  /**
   * The group of blocks that was last asked for: its number, its first position and its own order.
   */
  #group = -1;
  #groupStart = 0;
  #groupOrder: Permutation | undefined;

  constructor(
    length: number,
    blockSize: number,
    buffer: number,
    seed: number,
    epoch: number,
  ) {
    this.length = length;
    this.#blockSize = blockSize;
    this.#buffer = buffer;
    this.#seed = seed;
    this.#epoch = epoch;
    const count = Math.ceil(length / blockSize);
    this.#blocks = permutation(count, orderRandom(seed, epoch));
    this.#missing = count * blockSize - length;
    this.#shortPlace = count === 0 ? 0 : this.#blocks.positionOf(count - 1);
  }

  at(position: number): number {
    checkPosition(position, this.length);
    const group = Math.floor(this.#placeOf(position) / this.#buffer);
    if (group !== this.#group) this.#enter(group);
    const shuffled = this.#groupStart +
      this.#groupOrder!.at(position - this.#groupStart);
    const place = this.#placeOf(shuffled);
    return this.#blocks.at(place) * this.#blockSize + shuffled -
      this.#startOf(place);
  }

  /**
   * Makes a group's order: the samples of `buffer` blocks that follow each other in the order of
   * blocks.
   */
  #enter(group: number): void {
    const first = group * this.#buffer;
    const end = Math.min(first + this.#buffer, this.#blocks.length);
    this.#groupStart = this.#startOf(first);
    this.#groupOrder = permutation(
      this.#startOf(end) - this.#groupStart,
      orderRandom(this.#seed, this.#epoch, group),
    );
    this.#group = group;
  }

  /** Which block of the order of blocks has a position, blocks not being shuffled inside. */
  #placeOf(position: number): number {
    const place = Math.floor(position / this.#blockSize);
    return place <= this.#shortPlace && position < this.#startOf(place + 1)
      ? place
      : Math.floor((position + this.#missing) / this.#blockSize);
  }

  /** First position of a block of the order of blocks. */
  #startOf(place: number): number {
    const start = place * this.#blockSize;
    return place <= this.#shortPlace ? start : start - this.#missing;
  }
}
