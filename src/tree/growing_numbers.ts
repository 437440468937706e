import {
  newNumbers,
  shareNumbers,
  type WholeNumbers,
} from "./shared_numbers.ts";

/** Whole numbers, one behind the other, of which it is not known beforehand how many there will be. */
export class GrowingNumbers {
  readonly #below: number;
  #numbers: WholeNumbers;
  #length = 0;

  /** @param below All will be below it: up to 2^32 they take half the memory. */
  constructor(below = Infinity) {
    this.#below = below;
    this.#numbers = newNumbers(1024, below);
  }

  /** Adds a number. */
  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = newNumbers(this.#length * 2, this.#below);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = number;
  }

  /** Number of them. */
  get length(): number {
    return this.#length;
  }

  /** A number that was added. */
  at(index: number): number {
    return this.#numbers[index]!;
  }

  /** Puts another one in the place of a number that was added. */
  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  /** The numbers, in shared memory of their size. */
  finish(): WholeNumbers {
    const numbers = this.#numbers.subarray(0, this.#length);
    return shareNumbers(numbers, this.#below);
  }
}
