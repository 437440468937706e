import { Random } from "../../src/data/random/random.ts";

/** Random choices of a case, determined by the seed and the case's number. */
export class Dice {
  readonly #random: Random;

  constructor(...keys: number[]) {
    this.#random = new Random(...keys);
  }

  /** Returns a whole number from 0 to `below - 1`, or 0 if there is none. */
  int(below: number): number {
    return below <= 1 ? 0 : this.#random.int(below);
  }

  /** Returns a whole number from `low` to `high`, log-uniformly distributed. */
  size(low: number, high: number): number {
    const size = low * (high / low) ** this.#random.float();
    return Math.min(high, Math.round(size));
  }

  /** Returns true once in `times`, on average. */
  once(times: number): boolean {
    return this.#random.float() * times < 1;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!;
  }

  /** Picks an element with a probability proportional to its weight. */
  weighed<T extends { readonly weight: number }>(list: readonly T[]): T {
    const total = list.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.#random.float() * total;
    for (const one of list) {
      left -= one.weight;
      if (left < 0) return one;
    }
    return list.at(-1)!;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = this.#random.uint32();
    return bytes;
  }

  /** Picks at most `most` elements of a list, in its order. */
  some<T>(list: readonly T[], most: number): T[] {
    const share = most / list.length;
    if (share >= 1) return [...list];
    return list.filter(() => this.#random.float() < share).slice(0, most);
  }
}
