import { type Permutation, permutation } from "../random/permutation.ts";
import { Random } from "../random/random.ts";
import type { LabelColumn } from "./label_column.ts";
import type { Ratios } from "./ratios.ts";
import { stratifiedSizes } from "./stratified_sizes.ts";

/** Assigns each sample to a split. */
export interface Assignment {
  readonly sizes: readonly number[];
  /** Number of samples by label and split, if stratified. */
  readonly labelSizes?: readonly (readonly number[])[];
  /** Returns the split of the next sample, in the order of indices. */
  next(): number;
}

/** Key that separates a split's random numbers from those of a loader with the same seed: "split" in ASCII. */
const SPLIT = 0x73706c6974;

/**
 * Splits at random, in constant memory: the position of a sample in a random permutation determines its split.
 *
 * @param seed A safe integer ≥ 0.
 */
export function randomAssignment(
  length: number,
  ratios: Ratios,
  seed: number,
): Assignment {
  const sizes = ratios.sizes(length);
  const order = permutation(length, new Random(SPLIT, seed));
  let index = 0;
  return { sizes, next: () => splitAt(order.positionOf(index++), sizes) };
}

/**
 * Splits the samples of each label at random, so that every split has its ratio of each label.
 *
 * @param seed A safe integer ≥ 0.
 */
export function stratifiedAssignment(
  labels: LabelColumn,
  ratios: Ratios,
  seed: number,
): Assignment {
  const { counts } = labels;
  const turns = permutation(counts.length, new Random(SPLIT, seed));
  const inTurn = counts.map((_, i) => turns.at(i));
  const labelSizes = stratifiedSizes(counts, ratios, inTurn);
  const met = counts.map(() => 0);
  const orders = new Array<Permutation | undefined>(counts.length);
  let index = 0;
  return {
    sizes: ratios.sizes(labels.length),
    labelSizes,
    next() {
      const label = labels.at(index++);
      const order = orders[label] ??= permutation(
        counts[label]!,
        new Random(SPLIT, seed, label),
      );
      return splitAt(order.positionOf(met[label]!++), labelSizes[label]!);
    },
  };
}

/** Returns the split that contains a position, when the splits divide the positions in their order. */
function splitAt(place: number, sizes: readonly number[]): number {
  let split = 0;
  for (let rest = place; rest >= sizes[split]!; split++) rest -= sizes[split]!;
  return split;
}
