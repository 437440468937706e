import type { Row } from "../../support/report.ts";
import { median } from "../../support/rounds.ts";
import type { Contender, Kind } from "./contender.ts";
import { doubt } from "./plausible.ts";
import { type Case, promiseAgainst } from "./promises.ts";

/** Figures of a contender, one a round; `undefined` if it did not take part. */
export interface Outcome {
  readonly contender: Contender;
  readonly rounds: readonly number[] | undefined;
}

/** How to interpret the figures. */
export interface Comparison {
  readonly title: string;
  readonly of: Case;
  readonly unit: string;
  readonly better: "more" | "less";
}

/**
 * Returns the rows of one comparison, recordfs first. The ratio is the median of the rounds' ratios. If a kind has
 * several rows, its best row is checked against the promise and for plausibility.
 */
export function compare(
  { title, of, unit, better }: Comparison,
  outcomes: readonly Outcome[],
): Row[] {
  const ours = outcomes[0]!.rounds!;
  const best = bestOfKinds(outcomes, better);
  const ext4 = best.get("ext4")?.rounds;
  return outcomes.map((outcome): Row => {
    const { contender: { kind, name, missing }, rounds } = outcome;
    const row = { measured: title, subject: name, unit };
    if (rounds === undefined) return { ...row, value: null, note: missing! };
    const value = median(rounds);
    const measured: Row = { ...row, value, rounds };
    if (kind === "recordfs") return measured;
    const ratio = median(
      rounds.map((theirs, i) =>
        better === "more" ? ours[i]! / theirs : theirs / ours[i]!
      ),
    );
    if (best.get(kind) !== outcome) return { ...measured, ratio };
    const note = ext4 && doubt(kind, of, value, median(ext4));
    if (note !== undefined) return { ...measured, ratio, note, isVoid: true };
    const target = promiseAgainst(kind, of, ratio);
    return { ...measured, ratio, ...(target && { target }) };
  });
}

function bestOfKinds(
  outcomes: readonly Outcome[],
  better: "more" | "less",
): Map<Kind, Outcome> {
  const best = new Map<Kind, Outcome>();
  for (const outcome of outcomes) {
    if (outcome.rounds === undefined) continue;
    const { kind } = outcome.contender;
    const known = best.get(kind)?.rounds;
    const gain = known && median(outcome.rounds) - median(known);
    if (gain === undefined || (better === "more" ? gain > 0 : gain < 0)) {
      best.set(kind, outcome);
    }
  }
  return best;
}
