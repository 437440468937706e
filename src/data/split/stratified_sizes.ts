import { compare, type Ratios } from "./ratios.ts";

/**
 * How many samples of each label each split gets: the ratio's share of the label's, rounded down or up, so
 * that the splits are as large together as {@linkcode Ratios.sizes} says.
 *
 * What is left of a label after rounding down goes to the splits that were given least so far, as long as
 * the labels to come can still fill all splits. Where more than three splits make it impossible, a share
 * may miss by more than one sample; the splits' sizes never do.
 *
 * @param counts How many samples each label has.
 * @param turns In what order the labels give out what is left of them.
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

/** Samples that splits still have to get, and labels to give: the same number of samples. */
class Leftovers {
  /** Number of samples that each split is to get. */
  readonly #open: number[];
  /** Number of labels that have 0, 1, 2 … to give. */
  readonly #labelsWith: number[];

  constructor(open: number[], left: readonly number[]) {
    this.#open = open;
    this.#labelsWith = open.map(() => 0);
    for (const count of left) this.#labelsWith[count]!++;
  }

  /**
   * Chooses the splits that a label's samples go to.
   *
   * @param count How many samples are left of it.
   * @param due What each split is behind with.
   * @param rests The label's own part of that: a split without one gets none, where that can be.
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
    // Those that miss most can always come first (Gale and Ryser's theorem).
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

  /** True if the labels to come can give each split what it misses, none of them two samples to one. */
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
