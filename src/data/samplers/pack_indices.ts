/**
 * Copies indices into few bytes.
 *
 * @returns 4 bytes an index, or 8 if one of them is 2^32 or more.
 * @throws {TypeError} If it is no list of numbers.
 * @throws {RangeError} If one of them is not a whole number from 0 on.
 */
export function packIndices(
  indices: ArrayLike<number> | Iterable<number>,
): Uint32Array | Float64Array {
  const list = listOf(indices);
  let greatest = 0;
  for (let i = 0; i < list.length; i++) {
    const index = list[i]!;
    if (!Number.isSafeInteger(index) || index < 0) {
      throw new RangeError(
        `Index ${String(index)} at position ${i}: give whole numbers from 0 on`,
      );
    }
    if (index > greatest) greatest = index;
  }
  return greatest < 2 ** 32 ? new Uint32Array(list) : new Float64Array(list);
}

function listOf(
  indices: ArrayLike<number> | Iterable<number>,
): ArrayLike<number> {
  if (isList(indices)) {
    return "length" in indices ? indices : [...indices];
  }
  throw new TypeError(
    "This is no list of indices: give an array, or what can be iterated",
  );
}

/** Whether a value is an object with a length, or one that can be iterated. */
export function isList(
  value: unknown,
): value is ArrayLike<number> | Iterable<number> {
  return typeof value === "object" && value !== null &&
    ("length" in value || Symbol.iterator in value);
}
