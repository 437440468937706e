import { isIndex } from "../tree/sample_indices.ts";

/**
 * Checks a number that counts something.
 *
 * @throws {RangeError} Unless it is a safe integer from `least` on.
 */
export function wholeNumber(value: number, least: number, name: string): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} is ${String(value)}: give a whole number from ${least} on`,
  );
}

/**
 * Checks a place in an order.
 *
 * @param what What stands at it, for the message.
 * @throws {RangeError} If the order has no such place.
 */
export function checkPosition(
  position: number,
  length: number,
  what = "position",
): void {
  if (isIndex(position, length)) return;
  throw new RangeError(
    length === 0
      ? `There is no ${what} ${String(position)}: the epoch is empty`
      : `There is no ${what} ${String(position)}: they count from 0 to ${
        length - 1
      }`,
  );
}

/**
 * The length of what a sampler is for.
 *
 * @param source The length, or something that has one.
 * @throws {RangeError} Unless it is a whole number, or `Infinity` where `mayBeEndless`.
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
