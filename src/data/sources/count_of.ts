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

/** @throws {RangeError} If there is none. */
export function requireSources(
  sources: readonly unknown[],
  source: string,
): void {
  if (sources.length > 0) return;
  throw new RangeError(`${source} needs at least one source`);
}
