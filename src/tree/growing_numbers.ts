import {
  newNumbers,
  shareNumbers,
  type WholeNumbers,
} from "./shared_numbers.ts";

/** Growable array of whole numbers. */
export class GrowingNumbers {
  readonly #below: number;
  #numbers: WholeNumbers;
  #length = 0;

  /** @param below Exclusive upper bound of all numbers. Up to 2^32, they take half the memory. */
  constructor(below = Infinity) {
    this.#below = below;
    this.#numbers = newNumbers(1024, below);
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = newNumbers(this.#length * 2, this.#below);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = number;
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#numbers[index]!;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  /** Returns the numbers in shared memory of their exact size. */
  finish(): WholeNumbers {
    const numbers = this.#numbers.subarray(0, this.#length);
    return shareNumbers(numbers, this.#below);
  }
}

/** Numbers in each part of a {@linkcode SparseSet}: 1 KiB. */
const PART = 1 << 13;

/** Set of whole numbers: a bit for each of those around its members. */
export class SparseSet {
  readonly #parts = new Map<number, Uint32Array>();

  /** Adds a number. Returns whether it is new. */
  add(number: number): boolean {
    const key = Math.floor(number / PART);
    let part = this.#parts.get(key);
    if (part === undefined) {
      this.#parts.set(key, part = new Uint32Array(PART >> 5));
    }
    const word = number % PART >> 5;
    const bit = 1 << number % 32;
    if ((part[word]! & bit) !== 0) return false;
    part[word]! |= bit;
    return true;
  }
}
