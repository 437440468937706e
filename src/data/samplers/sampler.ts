import { DataError } from "../data_error.ts";
import { Random } from "../random/random.ts";
import { isIndex } from "../../tree/sample_indices.ts";
import { checkPosition } from "../whole_numbers.ts";

/**
 * The order of one epoch: the index at each position, or the indices of each batch. Computed rather than stored, if
 * possible.
 *
 * @typeParam T What is at a position: an index, or the indices of a batch.
 */
export interface Order<T = number> {
  /** Number of positions; `Infinity` if the epoch never ends. */
  readonly length: number;
  /**
   * Returns the index, or the indices of the batch, at a position.
   *
   * @param position Position from 0 to `length - 1`; each costs the same.
   */
  at(position: number): T;
}

/**
 * Determines the order in which a dataset is read. The order depends only on the seed and the epoch, so it is the
 * same on every machine and with any number of workers.
 */
export interface Sampler {
  /** Number of indices in an epoch. */
  readonly length: number;
  /**
   * Returns the order of an epoch.
   *
   * @param seed A safe integer ≥ 0.
   * @param epoch Number of the epoch, from 0.
   */
  order(seed: number, epoch: number): Order;
}

/**
 * Returns the random numbers that determine an epoch's order. A key before the seed keeps them unrelated to the
 * random numbers of sample `i`, which have the keys `(seed, epoch, i)`.
 *
 * @param part Part of the order, such as a position. By default they are for the whole order.
 */
export function orderRandom(
  seed: number,
  epoch: number,
  part?: number,
): Random {
  return part === undefined
    ? new Random(ORDER, seed, epoch)
    : new Random(ORDER, seed, epoch, part);
}

/** "order" in ASCII. */
const ORDER = 0x6f72646572;

/** Makes an order that checks positions against `length`. */
export function orderOf(
  length: number,
  at: (position: number) => number,
): Order {
  return {
    length,
    at(position) {
      checkPosition(position, length);
      return at(position);
    },
  };
}

/** Wording of messages: where an index came from, and what the sampler must be made for. */
const PLACES = {
  "sampler": ["at position", "the length of this dataset"],
  "batch sampler": ["for batch", "this dataset"],
} as const;

/** @throws {DataError} With code `bad-batch` if the dataset has no such sample. */
export function requireSample(
  index: number,
  samples: number,
  sampler: keyof typeof PLACES,
  place: number,
): void {
  if (isIndex(index, samples)) return;
  const [where, whole] = PLACES[sampler];
  throw new DataError(
    "bad-batch",
    `The ${sampler} gave index ${String(index)} ${where} ${place}, but the ` +
      `dataset has ${samples} samples: make the sampler for ${whole}`,
    { expected: samples, actual: index },
  );
}

/** Memoizes the last result of a function of one or two numbers. */
export function remembered<T>(
  make: (first: number, second: number) => T,
): (first: number, second?: number) => T {
  let last: { first: number; second: number; made: T } | undefined;
  return (first, second = 0) => {
    if (last?.first !== first || last.second !== second) {
      last = { first, second, made: make(first, second) };
    }
    return last.made;
  };
}
