import { progress, type Row } from "./report.ts";
import { median } from "./rounds.ts";

/** Contender that is compared with the first. */
export interface Compared {
  readonly name: string;
  /** Promised speed of the first, relative to this contender. */
  readonly target?: number;
  /** Why it is not measured, and how to fix that. */
  readonly missing?: string | undefined;
}

/**
 * Returns the rows of a comparison with the first contender, recordfs; the ratio is the median of the rounds' ratios.
 *
 * @param unit Unit of the figures.
 * @param figures Figures of each contender, one a round; `undefined` if it is missing.
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
  // Reports rows now: the table is printed at the end, possibly an hour later.
  for (const { subject, value, ratio, note } of rows) {
    const beside = ratio === undefined ? "" : ` (${ratio.toFixed(2)}×)`;
    const figure = value === null ? note : `${value.toPrecision(3)} ${unit}`;
    progress(`  ${subject}: ${figure}${beside}`);
  }
  return rows;
}
