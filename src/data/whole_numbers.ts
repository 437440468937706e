import { isIndex } from "../tree/sample_indices.ts";

/** @throws {RangeError} Unless `value` is a safe integer ≥ `least`. */
export function wholeNumber(value: number, least: number, name: string): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be a whole number from ${least} on, not ` +
      `${String(value)}`,
  );
}

/** @throws {RangeError} If the position is out of range. `what` names it in the message. */
export function checkPosition(
  position: number,
  length: number,
  what = "position",
): void {
  if (isIndex(position, length)) return;
  throw new RangeError(
    length === 0
      ? `There is no ${what} ${String(position)}: the epoch is empty`
      : `There is no ${what} ${String(position)}: valid positions are 0 to ${
        length - 1
      }`,
  );
}

/**
 * Returns the length of a sampler's input.
 *
 * @throws {RangeError} Unless it is a whole number ≥ 0, or `Infinity` if `mayBeEndless`.
 */
export function lengthOf(
  source: number | { readonly length: number },
  mayBeEndless = false,
): number {
  const length = typeof source === "number" ? source : source.length;
  if (mayBeEndless && length === Infinity) return length;
  if (length === Infinity) {
    throw new RangeError(
      "The dataset never ends: it cannot be shuffled as a whole",
    );
  }
  wholeNumber(length, 0, "The length");
  return length;
}
