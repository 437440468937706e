import type { Row } from "./report.ts";
import { median } from "./rounds.ts";

/** A contender's rates, one of each round. */
export interface Rates {
  readonly name: string;
  readonly rates: readonly number[];
}

/**
 * Rows of several ways of ours, each followed by what it is compared with, which bears the ratio.
 *
 * @param unit Of the rates: the larger, the better.
 */
export function rowsBeside(
  measured: string,
  unit: string,
  ours: readonly Rates[],
  other: Rates,
): Row[] {
  const row = ({ name, rates }: Rates): Row => ({
    measured,
    subject: name,
    value: median(rates),
    unit,
    rounds: rates,
  });
  return ours.flatMap((own) => [
    row(own),
    { ...row(other), ratio: median(own.rates) / median(other.rates) },
  ]);
}
