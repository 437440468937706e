import { UsageError } from "../../exit.ts";

/** What `mount --shuffle` shows. */
export interface Shuffle {
  readonly seed: number;
  /** The first epoch that links are shown for. */
  readonly firstEpoch: number;
  /** For how many epochs. */
  readonly epochs: number;
}

/** Epochs that one mount can show links for. */
const MOST_EPOCHS = 10_000;

/**
 * Reads the values of `--shuffle` and `--epoch`.
 *
 * @throws {UsageError} If one can't be.
 */
export function parseShuffle(
  seedText: string | undefined,
  epochText: string | undefined,
): Shuffle {
  if (seedText === undefined) {
    throw new UsageError("--epoch is of --shuffle, which is missing");
  }
  const seed = wholeNumber(seedText);
  if (seed === undefined) {
    throw new UsageError(
      `--shuffle ${seedText}: the seed must be a whole number from 0 to 2^53 - 1`,
    );
  }
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(epochText ?? "0") ?? [];
  const firstEpoch = wholeNumber(first ?? "");
  const lastEpoch = wholeNumber(last ?? first ?? "");
  if (
    firstEpoch === undefined || lastEpoch === undefined ||
    lastEpoch < firstEpoch || lastEpoch - firstEpoch >= MOST_EPOCHS
  ) {
    throw new UsageError(
      `--epoch ${epochText}: it must be a whole number, such as 3, or a range of up to ` +
        `${MOST_EPOCHS}, such as 0-9`,
    );
  }
  return { seed, firstEpoch, epochs: lastEpoch - firstEpoch + 1 };
}

function wholeNumber(text: string): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number)
    ? number
    : undefined;
}
