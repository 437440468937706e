import { FeistelPermutation } from "./feistel_permutation.ts";
import type { Random } from "./random.ts";
import { TablePermutation } from "./table_permutation.ts";

/** An order of the numbers from 0 to `length - 1`, each of them once. */
export interface Permutation {
  /** How many numbers there are. */
  readonly length: number;
  /**
   * The number at a position.
   *
   * @param position From 0 to `length - 1`: any, at the same cost.
   * @throws {RangeError} If there is no such position.
   */
  at(position: number): number;
  /**
   * The position of a number: the inverse of `at`, at the same cost.
   *
   * @throws {RangeError} If there is no such number.
   */
  positionOf(index: number): number;
}

/**
 * A random permutation in constant memory, however many numbers there are: up to 4,096 of them a
 * shuffled table; above, computed by a keyed Feistel network.
 *
 * @param length From 0 to 2^53 - 1.
 * @param random What it follows from; some numbers are drawn.
 * @throws {RangeError} If the length is anything else.
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
export function permutation(length: number, random: Random): Permutation {
  return length <= TABLE_LENGTH
    ? new TablePermutation(length, random)
    : new FeistelPermutation(length, random);
}

/**
 * The longest permutation that is a table: of 8 KiB, and made in the time of a thousand computed
 * numbers. A shuffled table is as good as its random numbers are; a network of few bits is less,
 * and it is slower.
 */
const TABLE_LENGTH = 4096;
