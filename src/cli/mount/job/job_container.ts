import type {
  MountPathOptions,
  PlacedPath,
} from "../../../../fuse/mount_container.ts";
import { parseMountOptions } from "../../../../fuse/mounting/mount_options.ts";
import type { DeferredContainer } from "../../../tree/format.ts";
import type { InternalOptions } from "../../../io/remote/remote_storage.ts";
import type { PlacedSource } from "../../input/given.ts";
import { storages } from "../../input/remote_storages.ts";
import { firstOnly, warn } from "../../messages.ts";
import type { MountJob } from "./mount_job.ts";

/**
 * Returns a job's containers in the form that opening takes; a single one without a directory is just its path.
 *
 * @param options A server that resumes a mount trusts the cache, since servers may be unreachable.
 */
export async function containersOf(
  { sources, remote }: MountJob,
  options: InternalOptions,
): Promise<string | readonly PlacedPath[]> {
  const [{ location, path }] = sources as [PlacedSource];
  if (remote === undefined) {
    return sources.length === 1 && path === undefined ? location : sources;
  }
  const storageAt = await storages(remote, options);
  const { remoteOf } = await import("../../input/remote_flags.ts");
  // Indexes of large local containers are cached in the same place.
  const local = { options: { remote: remoteOf(remote) } };
  return sources.map((source) => {
    const storage = storageAt(source.location);
    return storage === undefined
      ? { ...source, ...local }
      : { ...source, location: storage.root, options: { storage } };
  });
}

export const WARNINGS_HINT = "`recordfs info --all` names them";

/** Options for opening and mounting a job's containers. */
export function containerOptions(
  job: MountJob,
  onWarning: (message: string) => void = firstOnly(warn, WARNINGS_HINT),
): MountPathOptions {
  const { format, ext, maxRatio, decoded, prefix, subset, shuffle } = job;
  const { nested, stripSuffix } = job;
  return {
    ...parseMountOptions(job.options),
    format,
    ext,
    maxRatio,
    nested,
    stripSuffix,
    decoded,
    prefix,
    onWarning,
    arrange: subset === undefined && shuffle === undefined
      ? undefined
      : (container) => arrange(job, container),
  };
}

/** Applies `--subset` and `--shuffle`. Both look nodes up, so the container is completely read before. */
async function arrange(
  job: MountJob,
  container: DeferredContainer,
): Promise<DeferredContainer> {
  const { arrangeTree } = await import("../../../data/trees/arrange_tree.ts");
  await container.complete();
  const tree = await arrangeTree(container.tree, job, container.info);
  return {
    tree,
    get info() {
      return container.info;
    },
    complete: () => Promise.resolve(),
  };
}
