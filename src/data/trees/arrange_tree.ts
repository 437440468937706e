import { LinkTree } from "../../tree/trees/link_tree.ts";
import { samplesOf } from "../../tree/samples_of.ts";
import { ascendingOnce } from "../../tree/shared_numbers.ts";
import { SubsetTree } from "../../tree/trees/subset_tree.ts";
import type { Tree } from "../../tree/tree.ts";
import type { ContainerInfo } from "../../tree/format.ts";
import { ordersHandle } from "./epoch_orders.ts";
import { chosenIndices } from "./chosen_samples.ts";

/** Selects the part of a container to show, and its order. */
export interface Arrangement {
  /** Path of an index file with the samples to show. Defaults to all samples. */
  readonly subset: string | undefined;
  /** Links to show alongside the samples, if any. */
  readonly shuffle: Shuffle | undefined;
}

/** Links in the order of epochs. */
export interface Shuffle {
  /** A safe integer ≥ 0. */
  readonly seed: number;
  /** First epoch to show links for. */
  readonly firstEpoch: number;
  /** Number of epochs. */
  readonly epochs: number;
}

/**
 * Makes a tree that shows a subset of another one, and links to its samples in the order of epochs.
 *
 * @param tree Tree to wrap; owned by the new one.
 * @param info Information about the container.
 * @throws {DataError} If the index file cannot be read, contains an index that does not exist, or indexes other
 * samples.
 */
export async function arrangeTree(
  tree: Tree,
  { subset, shuffle }: Arrangement,
  info: Pick<ContainerInfo, "parts">,
): Promise<Tree> {
  const samples = await samplesOf(tree);
  const indices = subset === undefined
    ? undefined
    : await chosenIndices(subset, { tree, samples, info });
  const shown = indices === undefined
    ? tree
    : SubsetTree.of(tree, samples, ascendingOnce(indices));
  if (shuffle === undefined) return shown;
  const { seed, ...epochs } = shuffle;
  const length = indices?.length ?? samples.length;
  return await LinkTree.of(shown, {
    samples: samples.columns,
    indices,
    orders: ordersHandle({ length, seed }),
    ...epochs,
  });
}
