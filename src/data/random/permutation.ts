import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import type { Order } from "../samplers/sampler.ts";
import type { Random } from "./random.ts";

/** A permutation of the numbers from 0 to `length - 1`. */
export type Permutation = ReturnType<typeof permutation>;

/**
 * Makes a random permutation in constant memory: a shuffled table for up to 4,096 numbers, a keyed Feistel network
 * for more.
 *
 * @param length Number of elements, from 0 to 2^53 - 1.
 * @param random Generator that determines the permutation; some numbers are drawn from it.
 * @returns A permutation of the numbers from 0 to `length - 1`.
 * @throws {RangeError} If the length is out of range.
 *
 * @example The 500,000,000th of a billion
 * ```ts
 * import { permutation, Random } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const order = permutation(1e9, new Random(42, 0));
 * const index = order.at(500_000_000);
 * assert.equal(order.positionOf(index), 500_000_000);
 * ```
 */
export function permutation(length: number, random: Random): Order & {
  /**
   * Returns the position of a number: the inverse of `at`, at the same cost.
   *
   * @throws {RangeError} If there is no such number.
   */
  positionOf(index: number): number;
} {
  return length <= TABLE_LENGTH
    ? new TablePermutation(length, random)
    : new FeistelPermutation(length, random);
}

/**
 * Longest permutation held as a table: 8 KiB, made in the time of a thousand computed numbers. A shuffled table is
 * as good as its random numbers; a network of few bits is worse, and slower.
 */
const TABLE_LENGTH = 4096;

/** A permutation held in a table, shuffled uniformly by the Fisher–Yates method. */
export class TablePermutation implements Permutation {
  readonly length: number;
  readonly #indices: Uint16Array;
  /** Position of each number; computed on first use. */
  #positions: Uint16Array | undefined;

  /** @param length From 0 to 65,536. */
  constructor(length: number, random: Random) {
    wholeNumber(length, 0, "The length");
    if (length > 2 ** 16) throw new RangeError("A table of 16 bits is full");
    this.length = length;
    const indices = new Uint16Array(length);
    for (let i = 0; i < length; i++) {
      const other = random.int(i + 1);
      indices[i] = indices[other]!;
      indices[other] = i;
    }
    this.#indices = indices;
  }

  at(position: number): number {
    checkPosition(position, this.length);
    return this.#indices[position]!;
  }

  positionOf(index: number): number {
    checkPosition(index, this.length, "index");
    this.#positions ??= inverse(this.#indices);
    return this.#positions[index]!;
  }
}

function inverse(indices: Uint16Array): Uint16Array {
  const positions = new Uint16Array(indices.length);
  for (let i = 0; i < indices.length; i++) positions[indices[i]!] = i;
  return positions;
}

/**
 * A permutation computed by a Feistel network. It needs only the memory of its few keys, at any length.
 *
 * The network works on numbers of as many bits as the length needs, split into a high and a low half. Each round
 * changes one half by a keyed hash of the other, which the keys can undo, so the whole is a bijection. A result at
 * or above the length goes through the network again until it is below (cycle walking), which keeps it a bijection.
 * The length is over half of the network's range, so this takes less than two passes on average.
 *
 * No half exceeds 27 bits, so 32-bit arithmetic suffices for every length.
 */
export class FeistelPermutation implements Permutation {
  readonly length: number;
  readonly #keys: Int32Array;
  /** Shift that reduces a 32-bit hash to the bits of a half. */
  readonly #highShift: number;
  readonly #lowShift: number;
  /** 2 to the power of the low half's bits. */
  readonly #lowSize: number;
  /** 1 if the indices 0 and 1 are swapped, otherwise 0. */
  readonly #swap: number;
  /** The halves of `length - 1`. */
  readonly #greatestHigh: number;
  readonly #greatestLow: number;

  /** @param length From 0 to 2^53 - 1. */
  constructor(length: number, random: Random) {
    wholeNumber(length, 0, "The length");
    this.length = length;
    const bits = bitsOf(Math.max(length - 1, 0));
    const highBits = Math.max(1, bits >> 1);
    const lowBits = Math.max(1, bits - highBits);
    this.#highShift = 32 - highBits;
    this.#lowShift = 32 - lowBits;
    this.#lowSize = 2 ** lowBits;
    this.#greatestHigh = Math.floor((length - 1) / this.#lowSize);
    this.#greatestLow = length - 1 - this.#greatestHigh * this.#lowSize;
    this.#keys = new Int32Array(ROUNDS);
    for (let i = 0; i < ROUNDS; i++) this.#keys[i] = random.uint32();
    this.#swap = length > 1 ? random.uint32() >>> 31 : 0;
  }

  at(position: number): number {
    checkPosition(position, this.length);
    const keys = this.#keys;
    const highShift = this.#highShift;
    const lowShift = this.#lowShift;
    const lowSize = this.#lowSize;
    let high = Math.floor(position / lowSize);
    let low = position - high * lowSize;
    do {
      for (let round = 0; round < ROUNDS; round += 2) {
        high ^= hash(low, keys[round]!) >>> highShift;
        low ^= hash(high, keys[round + 1]!) >>> lowShift;
      }
    } while (this.#isOutside(high, low));
    return this.#swapped(high * lowSize + low);
  }

  positionOf(index: number): number {
    checkPosition(index, this.length, "index");
    const keys = this.#keys;
    const highShift = this.#highShift;
    const lowShift = this.#lowShift;
    const lowSize = this.#lowSize;
    const last = this.#swapped(index);
    let high = Math.floor(last / lowSize);
    let low = last - high * lowSize;
    do {
      for (let round = ROUNDS - 2; round >= 0; round -= 2) {
        low ^= hash(high, keys[round + 1]!) >>> lowShift;
        high ^= hash(low, keys[round]!) >>> highShift;
      }
    } while (this.#isOutside(high, low));
    return high * lowSize + low;
  }

  /**
   * Swaps the indices 0 and 1 if the keys say so. Every round swaps an even number of pairs; without this extra
   * swap, odd permutations would be rare or absent.
   */
  #swapped(index: number): number {
    return index < 2 ? index ^ this.#swap : index;
  }

  #isOutside(high: number, low: number): boolean {
    return high > this.#greatestHigh ||
      (high === this.#greatestHigh && low > this.#greatestLow);
  }
}

/** Rounds of the network; must be even. */
const ROUNDS = 12;

/**
 * Hashes a half: xor-shift and multiply, with the constants that Chris Wellons's hash prospector (public domain)
 * found to spread bits best. The last step of that hash, which moves high bits into low ones, is omitted: only high
 * bits are used.
 */
function hash(half: number, key: number): number {
  let word = half ^ key;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0xd35a2d97);
  return word;
}

function bitsOf(value: number): number {
  return value < 2 ** 32
    ? 32 - Math.clz32(value)
    : 64 - Math.clz32(value / 2 ** 32);
}
