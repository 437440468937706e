import { DataError } from "../data_error.ts";
import { Random } from "../random/random.ts";
import { isIndex } from "../../tree/sample_indices.ts";
import { checkPosition } from "../whole_numbers.ts";

/**
 * The order of one epoch: which index stands at which position. Computed, not stored, where
 * possible.
 */
export interface Order {
  /** Number of positions; `Infinity` where the epoch never ends. */
  readonly length: number;
  /**
   * The index at a position.
   *
   * @param position From 0 to `length - 1`: any, at the same cost.
   */
  at(position: number): number;
}

/**
 * Says in what order a dataset is read. The order is a function of the seed and the epoch only, so
 * it is the same on every machine and with any number of workers.
 */
export interface Sampler {
  /** Number of indices in an epoch. */
  readonly length: number;
  /**
   * The order of an epoch.
   *
   * @param seed A safe integer ≥ 0.
   * @param epoch From 0.
   */
  order(seed: number, epoch: number): Order;
}

/** The batches of one epoch. */
export interface BatchOrder {
  /** Number of batches; `Infinity` where the epoch never ends. */
  readonly length: number;
  /** The indices of a batch: any, at the same cost. */
  at(step: number): number[];
}

/**
 * The random numbers that an epoch's order follows from. They have a key of their own before the
 * seed: what is random about sample `i`, which follows from `(seed, epoch, i)`, has nothing to do
 * with what stands at position `i`.
 *
 * @param part Which part of the order they are for, such as a position; unless given, they are for
 * all of it.
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

/** The order that has an index at each position below `length`, and refuses others. */
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

/** Places that indices come from, by what gives them, and what that must be made for. */
const PLACES = {
  "sampler": ["at position", "the length of this dataset"],
  "batch sampler": ["for batch", "this dataset"],
} as const;

/**
 * Makes sure that a dataset has an index.
 *
 * @param sampler What gave it.
 * @param place Which position or batch it was asked for.
 * @throws {DataError} With code `bad-batch` if it has not.
 */
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

/**
 * Remembers what was made for the numbers that were asked for last.
 *
 * @param make Makes it of a number, or of two.
 */
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
