import { newSharedMemory } from "../io/libc/new_memory.ts";

/** Whole numbers in memory that threads share: 4 bytes each if they fit. */
export type WholeNumbers = Uint32Array | Float64Array;

/** Copies whole numbers from 0 to `below` (exclusive) to memory that threads share. */
export function shareNumbers(
  numbers: ArrayLike<number>,
  below: number,
): WholeNumbers {
  return below <= 2 ** 32 ? sharedUint32(numbers) : sharedFloat64(numbers);
}

export function newNumbers(length: number, below: number): WholeNumbers {
  return below <= 2 ** 32 ? sharedUint32(length) : sharedFloat64(length);
}

/** Returns the index of the first number that is at least `wanted` (lower bound). */
export function firstFrom(
  ascending: ArrayLike<number>,
  wanted: number,
): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = low + high >>> 1;
    if (ascending[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function includes(ascending: WholeNumbers, wanted: number): boolean {
  return ascending[firstFrom(ascending, wanted)] === wanted;
}

/** Returns the index of a number among strictly ascending ones, or -1. */
export function indexAmong(
  ascending: ArrayLike<number>,
  wanted: number,
): number {
  if (ascending.length === 0) return -1;
  const at = lastUpTo(ascending, wanted);
  return ascending[at] === wanted ? at : -1;
}

/** Returns the numbers sorted and without duplicates: the same array if they already are. */
export function ascendingOnce(numbers: WholeNumbers): WholeNumbers {
  const ascends = (number: number, i: number) =>
    i === 0 || number > numbers[i - 1]!;
  if (numbers.every(ascends)) return numbers;
  const sorted = numbers.slice().sort();
  return shareNumbers(
    sorted.filter((number, i) => i === 0 || number > sorted[i - 1]!),
    numbers instanceof Uint32Array ? 2 ** 32 : Infinity,
  );
}

/** Allocates a column in shared memory: a copy of `values`, or that many zeros. */
export function sharedUint32(values: ArrayLike<number> | number): Uint32Array {
  const length = typeof values === "number" ? values : values.length;
  const column = new Uint32Array(newSharedMemory(4 * length));
  if (typeof values !== "number") column.set(values);
  return column;
}

export function sharedBytes(bytes: ArrayLike<number>): Uint8Array {
  const copy = new Uint8Array(newSharedMemory(bytes.length));
  copy.set(bytes);
  return copy;
}

export function sharedFloat64(
  values: ArrayLike<number> | number,
): Float64Array {
  const length = typeof values === "number" ? values : values.length;
  const column = new Float64Array(newSharedMemory(8 * length));
  if (typeof values !== "number") column.set(values);
  return column;
}

/**
 * Returns the index of the last number that is at most `wanted`; 0 if all are greater.
 *
 * @param count Number of leading elements to search.
 * @param order Indices of the numbers in ascending order, if they are not sorted; the result is then an index into
 *   `order`.
 */
export function lastUpTo(
  ascending: ArrayLike<number>,
  wanted: number,
  count: number = ascending.length,
  order?: Uint32Array,
): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = low + high + 1 >>> 1;
    const at = order === undefined ? middle : order[middle]!;
    if (ascending[at]! <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}
