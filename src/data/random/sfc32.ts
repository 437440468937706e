/**
 * The generator sfc32 of Chris Doty-Humphrey's PractRand: 128 bits of state, every number by a
 * handful of 32-bit additions, shifts and rotations. It passes PractRand's tests, its lowest bits
 * as well as its highest.
 *
 * It is here, and not taken from a library, because its numbers are a promise: an order of training
 * that changed with a dependency's version would be another training. pure-rand, the library that
 * was looked at, takes a single 32-bit seed, so that the mixing of several would be ours anyway;
 * and the lowest bits of its xoroshiro128+ follow a linear recurrence.
 */
export class Sfc32 {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Seeds the generator with three 32-bit words, as PractRand does. */
  constructor(a: number, b: number, c: number) {
    this.#a = a | 0;
    this.#b = b | 0;
    this.#c = c | 0;
    for (let round = 0; round < SEED_ROUNDS; round++) this.next();
  }

  /** A whole number from 0 to 2^32 - 1. */
  next(): number {
    const b = this.#b;
    const c = this.#c;
    const word = (this.#a + b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = b ^ (b >>> 9);
    this.#b = (c + (c << 3)) | 0;
    this.#c = ((c << 21 | c >>> 11) + word) | 0;
    return word >>> 0;
  }
}

/**
 * Numbers left out at the start, until every bit of the seed has reached every bit of the state.
 */
const SEED_ROUNDS = 15;
