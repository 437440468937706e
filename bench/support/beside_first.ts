import { progress, type Row } from "./report.ts";
import { median } from "./rounds.ts";

/** Somebody who is compared with the first. */
export interface Compared {
  readonly name: string;
  /** How many times as fast as it the first promises to be. */
  readonly target?: number;
}

/**
 * Rows of a comparison with the first, which is recordfs: the ratio is the median of those of the rounds.
 *
 * @param unit Of the rates: the larger, the better.
 * @param rates Of each, one a round.
 */
export function rowsBesideFirst(
  measured: string,
  unit: string,
  compared: readonly Compared[],
  rates: readonly (readonly number[])[],
): Row[] {
  const rows = compared.map(({ name, target }, i): Row => {
    const rounds = rates[i]!;
    const row = {
      measured,
      subject: name,
      value: median(rounds),
      unit,
      rounds,
    };
    if (i === 0) return row;
    const ratio = median(rates[0]!.map((rate, k) => rate / rounds[k]!));
    if (target === undefined) return { ...row, ratio };
    const promise = `≥ ${target}×`;
    return { ...row, ratio, target: { promise, met: ratio >= target } };
  });
  // All rows together come at the end, which may be an hour away.
  for (const { subject, value, ratio } of rows) {
    const beside = ratio === undefined ? "" : ` (${ratio.toFixed(2)}×)`;
    progress(`  ${subject}: ${value!.toPrecision(3)} ${unit}${beside}`);
  }
  return rows;
}
