import type { MountPathOptions } from "../../../../fuse/mount_container.ts";
import { parseMountOptions } from "../../../../fuse/mounting/mount_options.ts";
import type { ServedContainer } from "../../../tree/format.ts";
import type { PlacedSource } from "../../input/given.ts";
import { firstOnly, warn } from "../../messages.ts";
import type { MountJob } from "./mount_job.ts";

/** A job's containers as what opens them takes it: one that is mounted by itself is but its path. */
export function containersOf(
  { sources }: MountJob,
): string | readonly PlacedSource[] {
  const [{ location, path }] = sources as [PlacedSource];
  return sources.length === 1 && path === undefined ? location : sources;
}

/** How they are opened and mounted. */
export function containerOptions(job: MountJob): MountPathOptions {
  const { format, ext, decoded, prefix, subset, shuffle } = job;
  return {
    ...parseMountOptions(job.options),
    format,
    ext,
    decoded,
    prefix,
    onWarning: firstOnly(warn, "`recordfs info --all` names them"),
    arrange: subset === undefined && shuffle === undefined
      ? undefined
      : (container) => arrange(job, container),
  };
}

/**
 * Makes the tree that `--subset` and `--shuffle` ask for. Both look nodes up, so all of the container is
 * looked at before.
 */
async function arrange(
  job: MountJob,
  container: ServedContainer,
): Promise<ServedContainer> {
  const { arrangeTree } = await import("../../../data/trees/arrange_tree.ts");
  await container.complete();
  const tree = await arrangeTree(container.tree, job);
  return {
    tree,
    get info() {
      return container.info;
    },
    complete: () => Promise.resolve(),
  };
}
