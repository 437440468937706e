import type { Row } from "../support/report.ts";
import { median } from "../support/rounds.ts";

/**
 * Returns rows of several recordfs contenders, each followed by a row of the last contender, the reference, with the
 * ratio.
 *
 * @param unit Unit of the rates; larger is better.
 * @param contenders Those of recordfs, then the reference.
 * @param rates Rates of each contender, one a round.
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
