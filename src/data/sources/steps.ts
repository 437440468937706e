import { IndexError } from "../../errors.ts";

/**
 * Makes sure that a source has these steps.
 *
 * @param source What the message calls it.
 * @throws {IndexError} If one of them is no whole number, or not below `length`.
 */
export function requireSteps(
  steps: readonly number[],
  length: number,
  source: string,
): void {
  for (const step of steps) {
    if (isStep(step, length)) continue;
    throw new IndexError(step, length, source, 0, "step");
  }
}

/** Whether a source of this length has a step. */
export function isStep(step: number, length: number): boolean {
  return Number.isSafeInteger(step) && step >= 0 && step < length;
}

/**
 * The number of samples that a source takes from another.
 *
 * @param given What was asked for; all, unless given.
 * @param available How many there are.
 * @param source What the message calls the source.
 * @throws {RangeError} If there are none, not so many, or no end of them.
 */
export function countOf(
  given: number | undefined,
  available: number,
  source: string,
): number {
  const count = given ?? available;
  if (Number.isSafeInteger(count) && count >= 1 && count <= available) {
    return count;
  }
  if (available === 0) {
    throw new RangeError(
      `${source} needs a dataset that has samples: it has none`,
    );
  }
  if (count === Infinity) {
    throw new RangeError(
      `${source} needs to be told how many samples to take: the dataset has no end of its own`,
    );
  }
  throw new RangeError(
    `${source} takes a whole number from 1 to ${available} of the dataset's samples, not ${count}`,
  );
}
