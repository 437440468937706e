import { Random } from "../random/random.ts";

/**
 * The random numbers that an epoch's order follows from. They have a key of their own before the seed: what is
 * random about sample `i`, which follows from `(seed, epoch, i)`, has nothing to do with what stands at position `i`.
 *
 * @param more Further keys, such as a position.
 */
export function orderRandom(
  seed: number,
  epoch: number,
  ...more: number[]
): Random {
  return new Random(ORDER, seed, epoch, ...more);
}

/** "order" in ASCII. */
const ORDER = 0x6f72646572;
