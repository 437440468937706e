import { type Permutation, permutation } from "../random/permutation.ts";
import { Random } from "../random/random.ts";
import type { LabelColumn } from "./label_column.ts";
import type { Ratios } from "./ratios.ts";
import { stratifiedSizes } from "./stratified_sizes.ts";

/** Says which split each sample is in. */
export interface Assignment {
  /** Number of samples each split gets. */
  readonly sizes: readonly number[];
  /** By label and split, how many samples: of a stratified split. */
  readonly labelSizes?: readonly (readonly number[])[];
  /** The split of the next sample: they are asked for in the order of their indices. */
  next(): number;
}

/** Keeps a split's random numbers apart from a loader's with the same seed: "split" in ASCII. */
const SPLIT = 0x73706c6974;

/**
 * Splits at random, in constant memory: a sample's place in a random order of all says where it goes.
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
 * Splits the samples of each label at random, so that each split has of each label what the ratios say.
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

/** The split that a place in the order is in, where the first split has the first places, and so on. */
function splitAt(place: number, sizes: readonly number[]): number {
  let split = 0;
  for (let rest = place; rest >= sizes[split]!; split++) rest -= sizes[split]!;
  return split;
}
