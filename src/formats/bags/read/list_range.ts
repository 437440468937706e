/** A range of a sequence, such as of the values of a list. */
export interface ListRange {
  /** The first, from 0 on. */
  readonly start: number;
  /** The one behind the last. */
  readonly stop: number;
}

/**
 * How many of `length` things a range covers; those that do not exist are left out, as in Python.
 *
 * @throws {RangeError} If it is no range.
 */
export function clippedCount(
  start: number,
  stop: number,
  length: number,
): number {
  const isRange = Number.isSafeInteger(start) && start >= 0 && stop >= start &&
    (Number.isSafeInteger(stop) || stop === Infinity);
  if (!isRange) {
    throw new RangeError(
      `A range goes from a whole number on to one that is not smaller, not from ${start} to ${stop}`,
    );
  }
  return Math.max(0, Math.min(stop, length) - start);
}
