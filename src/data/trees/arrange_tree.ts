import { LinkTree } from "../../tree/link_tree.ts";
import { samplesOf } from "../../tree/samples_of.ts";
import { ascendingOnce } from "../../tree/shared_numbers.ts";
import { SubsetTree } from "../../tree/subset_tree.ts";
import type { Tree } from "../../tree/tree.ts";
import type { ContainerInfo } from "../../tree/format.ts";
import { readIndexOf } from "../index_file.ts";
import { ordersHandle } from "./epoch_orders.ts";
import { hashOfNames } from "./sample_names.ts";

/** The part of a container to show, and its order. */
export interface Arrangement {
  /** Path of an index file: only the samples that it names show. All do unless given. */
  readonly subset: string | undefined;
  /** Links to show beside the samples, if any. */
  readonly shuffle: Shuffle | undefined;
}

/** Links in the orders of epochs. */
export interface Shuffle {
  /** A safe integer ≥ 0. */
  readonly seed: number;
  /** The first epoch that links are shown for. */
  readonly firstEpoch: number;
  /** For how many epochs. */
  readonly epochs: number;
}

/**
 * Makes a tree that shows a part of another one, or its samples in the orders of epochs as well.
 *
 * @param tree Belongs to the one that is made.
 * @param info What is known of its container.
 * @throws {DataError} If the index file can't be read, names a sample that there is not, or is one of other samples.
 */
export async function arrangeTree(
  tree: Tree,
  { subset, shuffle }: Arrangement,
  info: Pick<ContainerInfo, "parts">,
): Promise<Tree> {
  const samples = await samplesOf(tree);
  const indices = subset === undefined ? undefined : await readIndexOf(
    subset,
    samples.length,
    () => hashOfNames(tree, samples, info),
  );
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
