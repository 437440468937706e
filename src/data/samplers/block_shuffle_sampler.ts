import { permutation } from "../random/permutation.ts";
import { lengthOf, wholeNumber } from "../whole_numbers.ts";
import {
  type Order,
  orderOf,
  orderRandom,
  remembered,
  type Sampler,
} from "./sampler.ts";

/**
 * Samples in a random order that suits disks. Blocks of neighbours are shuffled, and then the samples of up to
 * `buffer` blocks at a time. The groups of blocks are of even size: 17 blocks with a buffer of 16 make a group of
 * nine and one of eight. `blockSize` × `buffer` consecutive samples come from `buffer` places of the file; in a
 * full shuffle, each comes from its own.
 *
 * A larger `buffer` mixes the samples of a batch better. The order is computed, not stored. Every sample comes once
 * per epoch, and blocks and groups change with every epoch.
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
   * @throws {RangeError} If a number is not a valid whole number, or the dataset is endless.
   */
  constructor(
    source: number | { readonly length: number },
    options: {
      /** Samples per block: neighbours, which a disk reads together. */
      readonly blockSize: number;
      /** Maximum number of blocks shuffled together, in groups of equal size. Defaults to 16. */
      readonly buffer?: number;
    },
  ) {
    this.length = lengthOf(source);
    this.#blockSize = options.blockSize;
    this.#buffer = options.buffer ?? 16;
    wholeNumber(this.#blockSize, 1, "blockSize");
    wholeNumber(this.#buffer, 1, "buffer");
  }

  /** Returns the order of an epoch. */
  order(seed: number, epoch: number): Order {
    const { length } = this;
    const blockSize = this.#blockSize;
    const buffer = this.#buffer;
    const count = Math.ceil(length / blockSize);
    const groups = new EvenGroups(count, buffer);
    const blocks = permutation(count, orderRandom(seed, epoch));
    // The last block may be short by `missing` samples. `shortPlace` is its position in the order of blocks.
    const missing = count * blockSize - length;
    const shortPlace = count === 0 ? 0 : blocks.positionOf(count - 1);
    /** First position of the block at a place in the order of blocks. */
    const startOf = (place: number) =>
      place * blockSize - (place <= shortPlace ? 0 : missing);
    /** Place, in the order of blocks, of the block that contains a position before samples are shuffled. */
    const placeOf = (position: number) => {
      const place = Math.floor(position / blockSize);
      return place <= shortPlace && position < startOf(place + 1)
        ? place
        : Math.floor((position + missing) / blockSize);
    };
    /** First position and shuffled samples of a group of consecutive blocks. */
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

/**
 * Splits items into as few groups of neighbours as possible, whose sizes differ by at most one; larger groups come
 * first.
 */
class EvenGroups {
  readonly #least: number;
  /** Number of groups with one item more than `#least`. */
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
