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
  const column = newNumbers(numbers.length, below);
  column.set(numbers);
  return column;
}

/** Memory that threads share, for so many whole numbers. */
export function newNumbers(length: number, below: number): WholeNumbers {
  return below <= 2 ** 32
    ? new Uint32Array(new SharedArrayBuffer(4 * length))
    : new Float64Array(new SharedArrayBuffer(8 * length));
}

/** Where in ascending numbers the first is that is not below `wanted`. */
export function firstFrom(ascending: WholeNumbers, wanted: number): number {
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

/** The same numbers ascending, each once: the same memory, where they are so already. */
export function ascendingOnce(numbers: WholeNumbers): WholeNumbers {
  if (ascends(numbers)) return numbers;
  const sorted = numbers.slice().sort();
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i > 0 && sorted[i] === sorted[i - 1]) continue;
    sorted[kept++] = sorted[i]!;
  }
  return shareNumbers(
    sorted.subarray(0, kept),
    numbers instanceof Uint32Array ? 2 ** 32 : Infinity,
  );
}

function ascends(numbers: WholeNumbers): boolean {
  for (let i = 1; i < numbers.length; i++) {
    if (numbers[i]! <= numbers[i - 1]!) return false;
  }
  return true;
}
