import type { Random } from "../random/random.ts";
import { checkPosition } from "../whole_numbers.ts";
import { orderRandom } from "./order_random.ts";
import type { Order } from "./sampler.ts";

/** An order of which every position is drawn for itself. */
export class DrawnOrder implements Order {
  readonly length: number;
  readonly #seed: number;
  readonly #epoch: number;
  readonly #draw: (random: Random) => number;

  /**
   * Makes the order of an epoch.
   *
   * @param draw Draws the index at a position from that position's random numbers.
   */
  constructor(
    length: number,
    seed: number,
    epoch: number,
    draw: (random: Random) => number,
  ) {
    this.length = length;
    this.#seed = seed;
    this.#epoch = epoch;
    this.#draw = draw;
  }

  at(position: number): number {
    checkPosition(position, this.length);
    return this.#draw(orderRandom(this.#seed, this.#epoch, position));
  }
}
