import { compare, type Ratios } from "./ratios.ts";

/**
 * Returns how many samples of each label each split gets: its share of the label, rounded down or up, so that the
 * splits' total sizes are those of {@linkcode Ratios.sizes}.
 *
 * The samples of a label that remain after rounding down go to the splits that are furthest behind so far, provided
 * that the remaining labels can still fill all splits. With more than three splits that may be impossible. Then a
 * share may be off by more than one sample; the total sizes never are.
 *
 * @param counts Number of samples of each label.
 * @param turns Order in which labels distribute their remaining samples.
 * @returns The sizes by label.
 */
export function stratifiedSizes(
  counts: readonly number[],
  ratios: Ratios,
  turns: Iterable<number>,
): number[][] {
  const shares = counts.map((count) => ratios.shares(count));
  const sizes = shares.map((share) => share.sizes);
  const left = sizes.map((own, label) => counts[label]! - sum(own));
  const leftovers = new Leftovers(
    ratios.sizes(sum(counts)).map((size, split) =>
      size - sizes.reduce((total, own) => total + own[split]!, 0)
    ),
    left,
  );
  const due = ratios.parts.map(() => 0n);
  for (const label of turns) {
    const { rests } = shares[label]!;
    rests.forEach((rest, split) => due[split]! += rest);
    for (const split of leftovers.take(left[label]!, due, rests)) {
      sizes[label]![split]!++;
      due[split]! -= ratios.whole;
    }
  }
  return sizes;
}

/** Samples that splits still need and that labels still have; both totals are equal. */
class Leftovers {
  /** Number of samples that each split still needs. */
  readonly #open: number[];
  /** Number of labels with 0, 1, 2 … samples left. */
  readonly #labelsWith: number[];

  constructor(open: number[], left: readonly number[]) {
    this.#open = open;
    this.#labelsWith = open.map(() => 0);
    for (const count of left) this.#labelsWith[count]!++;
  }

  /**
   * Chooses the splits that get the remaining samples of a label.
   *
   * @param count Number of remaining samples.
   * @param due How far each split is behind.
   * @param rests The label's own contribution to `due`. A split without one gets no sample, if possible.
   */
  take(
    count: number,
    due: readonly bigint[],
    rests: readonly bigint[],
  ): readonly number[] {
    this.#labelsWith[count]!--;
    if (count === 0) return [];
    const splits = due.map((_, split) => split);
    const wanted = splits.filter((split) => rests[split]! > 0n)
      .sort((a, b) => compare(due[b]!, due[a]!)).slice(0, count);
    this.#give(wanted, -1);
    if (this.#canBeFilled()) return wanted;
    this.#give(wanted, 1);
    // Serving the splits that need most first always works (Gale–Ryser theorem).
    const chosen: number[] = [];
    while (chosen.length < count) {
      const free = splits.filter((split) =>
        this.#open[split]! > 0 && !chosen.includes(split)
      );
      const from = free.length > 0 ? free : splits;
      const next = from.reduce((most, split) =>
        this.#open[split]! > this.#open[most]! ? split : most
      );
      chosen.push(next);
      this.#give([next], -1);
    }
    return chosen;
  }

  #give(splits: readonly number[], change: number): void {
    for (const split of splits) this.#open[split]! += change;
  }

  /** Whether the remaining labels can fill all splits, each giving at most one sample to a split. */
  #canBeFilled(): boolean {
    const open = this.#open.toSorted((a, b) => b - a);
    let needed = 0;
    return open.at(-1)! >= 0 && open.every((size, i) => {
      needed += size;
      const given = this.#labelsWith.reduce(
        (total, labels, each) => total + labels * Math.min(each, i + 1),
        0,
      );
      return needed <= given;
    });
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
