/** Whole numbers, one behind the other, of which it is not known beforehand how many there will be. */
export class GrowingNumbers {
  #numbers: Float64Array | Uint32Array;
  #length = 0;

  /** @param largest No number will be larger: up to 2^32 - 1 they take half the memory. */
  constructor(largest = Number.MAX_SAFE_INTEGER) {
    this.#numbers = newNumbers(1024, largest);
  }

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds a number. */
  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = this.#like(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = number;
  }

  /** The numbers, in shared memory of their size. */
  finish(): Float64Array | Uint32Array {
    const numbers = this.#like(this.#length);
    numbers.set(this.#numbers.subarray(0, this.#length));
    return numbers;
  }

  #like(length: number): Float64Array | Uint32Array {
    return newNumbers(
      length,
      this.#numbers instanceof Uint32Array ? 0 : Infinity,
    );
  }
}

/** Shared memory for whole numbers up to `largest`. */
export function newNumbers(
  length: number,
  largest: number,
): Float64Array | Uint32Array {
  return largest < 2 ** 32
    ? new Uint32Array(new SharedArrayBuffer(4 * length))
    : new Float64Array(new SharedArrayBuffer(8 * length));
}
