import { newSharedMemory } from "../io/libc/new_memory.ts";

/** Whole numbers in memory that threads share: 4 bytes each where they fit. */
export type WholeNumbers = Uint32Array | Float64Array;

/**
 * Copies whole numbers from 0 on to memory that threads share.
 *
 * @param below What all of them are below.
 */
export function shareNumbers(
  numbers: ArrayLike<number>,
  below: number,
): WholeNumbers {
  return below <= 2 ** 32 ? sharedUint32(numbers) : sharedFloat64(numbers);
}

/** Memory that threads share, for so many whole numbers. */
export function newNumbers(length: number, below: number): WholeNumbers {
  return below <= 2 ** 32 ? sharedUint32(length) : sharedFloat64(length);
}

/** Where in ascending numbers the first is that is not below `wanted`. */
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

/** Tells whether a number is among ascending ones. */
export function includes(ascending: WholeNumbers, wanted: number): boolean {
  return ascending[firstFrom(ascending, wanted)] === wanted;
}

/** Where a number is among ascending ones that differ; -1 where it is not. */
export function indexAmong(
  ascending: ArrayLike<number>,
  wanted: number,
): number {
  if (ascending.length === 0) return -1;
  const at = lastUpTo(ascending, wanted);
  return ascending[at] === wanted ? at : -1;
}

/** The same numbers ascending, each once: the same memory, where they are so already. */
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

/** A column in memory that threads share: these numbers, or so many zeros. */
export function sharedUint32(values: ArrayLike<number> | number): Uint32Array {
  const length = typeof values === "number" ? values : values.length;
  const column = new Uint32Array(newSharedMemory(4 * length));
  if (typeof values !== "number") column.set(values);
  return column;
}

/** A copy of bytes in memory that threads share. */
export function sharedBytes(bytes: ArrayLike<number>): Uint8Array {
  const copy = new Uint8Array(newSharedMemory(bytes.length));
  copy.set(bytes);
  return copy;
}

/** {@linkcode sharedUint32} of any numbers. */
export function sharedFloat64(
  values: ArrayLike<number> | number,
): Float64Array {
  const length = typeof values === "number" ? values : values.length;
  const column = new Float64Array(newSharedMemory(8 * length));
  if (typeof values !== "number") column.set(values);
  return column;
}

/**
 * Where in ascending numbers the last is that is at most `wanted`; 0 where all are greater.
 *
 * @param count How many of the numbers are looked at.
 * @param order The indices of the numbers in ascending order, where they do not stand in it; the answer is one of
 * its own.
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
