import { DataError } from "../data_error.ts";
import { Random } from "../random/random.ts";
import { checkPosition } from "../whole_numbers.ts";
import type { Order } from "./sampler.ts";

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

/**
 * An order of an epoch, of which every position is drawn for itself.
 *
 * @param draw Draws the index at a position from that position's random numbers.
 */
export function drawnOrder(
  length: number,
  seed: number,
  epoch: number,
  draw: (random: Random) => number,
): Order {
  return orderOf(
    length,
    (position) => draw(orderRandom(seed, epoch, position)),
  );
}

/** Whether a dataset of so many samples has one of that index. */
export function isSample(index: number, samples: number): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < samples;
}

/**
 * The error for an index that the dataset does not have.
 *
 * @param where What gave it, and where: "sampler" and "at position 3".
 * @param whole What the sampler must be made for.
 */
export function noSample(
  index: number,
  samples: number,
  [sampler, where]: readonly [string, string],
  whole: string,
): DataError {
  return new DataError(
    "bad-batch",
    `The ${sampler} gave index ${
      String(index)
    } ${where}, but the dataset has ${samples} samples: make the sampler for ${whole}`,
    { expected: samples, actual: index },
  );
}
