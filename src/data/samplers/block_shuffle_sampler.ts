import { permutation } from "../random/permutation.ts";
import { lengthOf, wholeNumber } from "../whole_numbers.ts";
import {
  type Order,
  orderOf,
  orderRandom,
  remembered,
  type Sampler,
} from "./sampler.ts";

/** Options of {@linkcode BlockShuffleSampler}. */
export interface BlockShuffleOptions {
  /** Samples in a block: neighbours, which a disk reads at once. */
  readonly blockSize: number;
  /** Most blocks that are shuffled together, in groups of equal size; unless given, 16. */
  readonly buffer?: number;
}

/**
 * Samples in random order that is kind to disks: blocks of neighbours come in random order, and
 * only the samples of up to `buffer` blocks at a time are shuffled among each other: of 17 blocks and a
 * buffer of 16, of nine and then of eight. So `blockSize` times
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
    const { length } = this;
    const blockSize = this.#blockSize;
    const buffer = this.#buffer;
    const count = Math.ceil(length / blockSize);
    const groups = new EvenGroups(count, buffer);
    const blocks = permutation(count, orderRandom(seed, epoch));
    // The last block may be too short: by so many samples, at this place in the order of blocks.
    const missing = count * blockSize - length;
    const shortPlace = count === 0 ? 0 : blocks.positionOf(count - 1);
    /** First position of a block of the order of blocks. */
    const startOf = (place: number) =>
      place * blockSize - (place <= shortPlace ? 0 : missing);
    /** Which block of the order of blocks has a position, blocks not being shuffled inside. */
    const placeOf = (position: number) => {
      const place = Math.floor(position / blockSize);
      return place <= shortPlace && position < startOf(place + 1)
        ? place
        : Math.floor((position + missing) / blockSize);
    };
    /** The samples of a group of blocks that follow each other in the order of blocks. */
    const groupOf = remembered((group) => {
      const start = startOf(groups.firstOf(group));
      const end = startOf(groups.firstOf(group + 1));
      const random = orderRandom(seed, epoch, group);
      return { start, order: permutation(end - start, random) };
    });
    return orderOf(length, (position) => {
      const { start, order } = groupOf(groups.of(placeOf(position)));
      const shuffled = start + order.at(position - start);
      const place = placeOf(shuffled);
      return blocks.at(place) * blockSize + shuffled - startOf(place);
    });
  }
}

/** Groups of neighbours, as few as there may be, whose sizes differ by one at most; the larger ones come first. */
class EvenGroups {
  readonly #least: number;
  /** How many have one more. */
  readonly #larger: number;

  constructor(count: number, most: number) {
    const groups = Math.max(1, Math.ceil(count / most));
    this.#least = Math.floor(count / groups);
    this.#larger = count % groups;
  }

  firstOf(group: number): number {
    return group * this.#least + Math.min(group, this.#larger);
  }

  of(place: number): number {
    const inLarger = this.#larger * (this.#least + 1);
    return place < inLarger
      ? Math.floor(place / (this.#least + 1))
      : this.#larger + Math.floor((place - inLarger) / this.#least);
  }
}
