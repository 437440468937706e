import { progress, type Row } from "./report.ts";
import { median } from "./rounds.ts";

/** Somebody who is compared with the first. */
export interface Compared {
  readonly name: string;
  /** How many times as fast as it the first promises to be. */
  readonly target?: number;
  /** Why it is not measured, and what to do about it. */
  readonly missing?: string | undefined;
}

/**
 * Rows of a comparison with the first, which is recordfs: the ratio is the median of those of the rounds.
 *
 * @param unit Of the figures.
 * @param figures Of each, one a round; `undefined` of one that is missing.
 * @param better Whether larger or smaller figures are better.
 */
export function rowsBesideFirst(
  measured: string,
  unit: string,
  compared: readonly Compared[],
  figures: readonly (readonly number[] | undefined)[],
  better: "more" | "less" = "more",
): Row[] {
  const first = figures[0]!;
  const rows = compared.map(({ name, target, missing }, i): Row => {
    const rounds = figures[i];
    const subject = { measured, subject: name, unit };
    if (rounds === undefined) {
      return { ...subject, value: null, note: missing! };
    }
    const row = { ...subject, value: median(rounds), rounds };
    if (i === 0) return row;
    const ratio = median(
      rounds.map((theirs, k) =>
        better === "more" ? first[k]! / theirs : theirs / first[k]!
      ),
    );
    if (target === undefined) return { ...row, ratio };
    const promise = `≥ ${target}×`;
    return { ...row, ratio, target: { promise, met: ratio >= target } };
  });
  // All rows together come at the end, which may be an hour away.
  for (const { subject, value, ratio, note } of rows) {
    const beside = ratio === undefined ? "" : ` (${ratio.toFixed(2)}×)`;
    const figure = value === null ? note : `${value.toPrecision(3)} ${unit}`;
    progress(`  ${subject}: ${figure}${beside}`);
  }
  return rows;
}
