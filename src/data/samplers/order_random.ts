import { Random } from "../random/random.ts";

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
