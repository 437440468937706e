import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { ContainerInfo } from "../../tree/format.ts";
import type { SampleRuns } from "../../tree/sample_runs.ts";
import { requireIndices } from "../../tree/sample_indices.ts";
import { samplesOf } from "../../tree/samples_of.ts";
import {
  ascendingOnce,
  shareNumbers,
  type WholeNumbers,
} from "../../tree/shared_numbers.ts";
import { SubsetTree } from "../../tree/trees/subset_tree.ts";
import type { Tree } from "../../tree/tree.ts";
import { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { readIndexOf } from "../index_file.ts";
import { hashOfNames } from "./sample_names.ts";

/** Samples of a container: indices in any order, or the location of an index file, as `recordfs split` writes it. */
export type SampleChoice = Iterable<number> | string | URL;

/** Samples to choose from. */
interface Choosable {
  readonly tree: Tree;
  readonly samples: SampleRuns;
  readonly info: Pick<ContainerInfo, "parts">;
  /** Path of the container, for messages. */
  readonly location?: string | undefined;
  /** Hashes the samples' names, if those of the tree are not the container's own. */
  readonly hash?: (() => Promise<string>) | undefined;
}

/**
 * Returns the indices of chosen samples, in the order in which they are given.
 *
 * @throws {DataError} If an index file cannot be read, has an index that does not exist, or indexes other samples.
 * @throws {IndexError} If there is no such sample.
 */
export async function chosenIndices(
  choice: SampleChoice,
  { tree, samples, info, location = "the container", hash }: Choosable,
  options: WaitOptions = {},
): Promise<WholeNumbers> {
  const { length } = samples;
  if (typeof choice === "string" || choice instanceof URL) {
    const names = hash ?? (() => hashOfNames(tree, samples, info));
    return await readIndexOf(choice, length, names, options);
  }
  const indices = requireIndices(choice, length, () => location);
  return shareNumbers(indices, length);
}

interface ChooseOptions extends WaitOptions, Pick<Choosable, "hash"> {}

/**
 * Shows only some samples of a container.
 *
 * @param fs The container, which the new one closes; closed if this fails.
 * @throws As {@linkcode chosenIndices} does.
 */
export async function onlyChosen(
  fs: VirtualFs,
  choice: SampleChoice,
  { hash, ...options }: ChooseOptions = {},
): Promise<VirtualFs> {
  const { tree, location, info } = fs;
  try {
    const samples = await samplesOf(tree);
    const from = { tree, samples, info, location, hash };
    const chosen = await chosenIndices(choice, from, options);
    const indices = ascendingOnce(chosen);
    const subset = { indices, of: samples.length };
    return new VirtualFs(location, {
      tree: SubsetTree.of(tree, samples, indices),
      samples: fs.samples,
      subset,
      info: { ...info, notes: [...info.notes ?? [], noteOf(subset)] },
    }, fs.checkData);
  } catch (error) {
    fs.close();
    throw error;
  }
}

/** Returns how many samples were chosen, for messages: `3 of 10 samples`. */
export function countChosen(
  { indices, of }: NonNullable<VirtualFs["subset"]>,
): string {
  return `${indices.length} of ${of} samples`;
}

function noteOf(subset: NonNullable<VirtualFs["subset"]>): string {
  return `only ${countChosen(subset)} are shown; the counts are those of all`;
}

/** Returns the indices of chosen samples that the container does not show, since they were damaged when it was opened. */
export function unshownSamples({ tree, subset }: VirtualFs): number[] {
  if (subset === undefined || tree.samples === undefined) return [];
  const unshown: number[] = [];
  let at = 0;
  for (const { first, count } of tree.samples().runs) {
    const end = at + count;
    for (; at < end; at++) if (first === 0) unshown.push(subset.indices[at]!);
  }
  return unshown;
}
