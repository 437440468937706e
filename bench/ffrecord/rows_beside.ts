import type { Row } from "../support/report.ts";
import { median } from "../support/rounds.ts";

/**
 * Rows of several ways of ours, each followed by what it is compared with, the last contender, which
 * bears the ratio.
 *
 * @param unit Of the rates: the larger, the better.
 * @param contenders Ours, then the other.
 * @param rates Of each contender, one a round.
 */
export function rowsBesideLast(
  measured: string,
  unit: string,
  contenders: readonly { readonly name: string }[],
  rates: readonly (readonly number[])[],
): Row[] {
  const rows = contenders.map(({ name }, i) => ({
    measured,
    subject: name,
    value: median(rates[i]!),
    unit,
    rounds: rates[i]!,
  }));
  const other = rows.pop()!;
  return rows.flatMap((own) => [
    own,
    { ...other, ratio: own.value / other.value },
  ]);
}
