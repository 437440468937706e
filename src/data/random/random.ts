/**
 * Random numbers determined by integer keys: the same keys give the same numbers on every machine and in every
 * version. (A change would alter the order of everyone's training.)
 *
 * Keys that differ in value, order or number give unrelated numbers. So `new Random(seed, epoch, index)` gives the
 * random numbers of one sample, independent of those drawn for others.
 *
 * Not for secrets: the keys can be computed from the numbers.
 *
 * @example What is random about sample 17
 * ```ts
 * import { Random } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const random = new Random(42, 0, 17);
 * const isFlipped = random.float() < 0.5;
 * const offset = random.int(30);
 * const again = new Random(42, 0, 17);
 * assert.equal(again.float() < 0.5, isFlipped);
 * assert.equal(again.int(30), offset);
 * ```
 */
export class Random {
  readonly #words: Sfc32;

  /**
   * Starts from keys.
   *
   * @param keys Safe integers, such as a seed, an epoch and an index.
   * @throws {RangeError} If a key is not a safe integer.
   */
  constructor(...keys: number[]) {
    this.#words = generatorOf(keys);
  }

  /** Returns a whole number from 0 to 2^32 - 1. */
  uint32(): number {
    return this.#words.next();
  }

  /** Returns a number in [0, 1) with 53 random bits. */
  float(): number {
    const high = this.#words.next() >>> 5;
    return (high * 2 ** 26 + (this.#words.next() >>> 6)) / 2 ** 53;
  }

  /**
   * Returns a whole number from 0 to `below - 1`, each exactly as likely.
   *
   * @param below From 1 to 2^53 - 1.
   * @throws {RangeError} If `below` is out of range.
   */
  int(below: number): number {
    if (!Number.isSafeInteger(below) || below < 1) {
      throw new RangeError(
        "The bound of a random number must be a whole number from 1 on, not " +
          `${below}`,
      );
    }
    // Rejection sampling: draws as many bits as the greatest result has, less than twice on average.
    const greatest = below - 1;
    if (greatest === 0) return 0;
    if (greatest < TWO_32) {
      const shift = Math.clz32(greatest);
      for (;;) {
        const drawn = this.#words.next() >>> shift;
        if (drawn <= greatest) return drawn;
      }
    }
    const shift = Math.clz32(greatest / TWO_32);
    for (;;) {
      const high = this.#words.next() >>> shift;
      const drawn = high * TWO_32 + this.#words.next();
      if (drawn <= greatest) return drawn;
    }
  }
}

const TWO_32 = 2 ** 32;

/**
 * Mixes the keys into the seed of a generator by Bob Jenkins's hash `lookup3` (2006, public domain): the low and
 * high word of each key, then its `mix`. The number of keys goes in first, so that `(1)` and `(1, 0)` differ.
 */
function generatorOf(keys: readonly number[]): Sfc32 {
  let a = (0xdeadbeef + keys.length) | 0;
  let b = a;
  let c = a;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (!Number.isSafeInteger(key)) {
      throw new RangeError(
        "The seeds of random numbers must be whole numbers, not " +
          `${String(key)}`,
      );
    }
    a = (a + (key | 0)) | 0;
    b = (b + Math.floor(key / TWO_32)) | 0;
    a = ((a - c) | 0) ^ (c << 4 | c >>> 28);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ (a << 6 | a >>> 26);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ (b << 8 | b >>> 24);
    b = (b + a) | 0;
    a = ((a - c) | 0) ^ (c << 16 | c >>> 16);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ (a << 19 | a >>> 13);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ (b << 4 | b >>> 28);
    b = (b + a) | 0;
  }
  return new Sfc32(a, b, c);
}

/**
 * The generator sfc32 of Chris Doty-Humphrey's PractRand: 128 bits of state, a handful of 32-bit additions, shifts
 * and rotations per number. It passes PractRand's tests, in its lowest bits as in its highest.
 *
 * Implemented here because its numbers must never change: a dependency's update could change the order of training.
 * The library pure-rand takes a single 32-bit seed, so mixing several keys would remain our code anyway, and the
 * lowest bits of its xoroshiro128+ follow a linear recurrence.
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

  /** Returns a whole number from 0 to 2^32 - 1. */
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

/** Numbers discarded at the start, so that every bit of the seed reaches every bit of the state. */
const SEED_ROUNDS = 15;
