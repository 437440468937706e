import { arrangeTree } from "../../data/trees/arrange_tree.ts";
import type { ServedContainer } from "../../vfs/open_to_serve.ts";
import type { MountJob } from "./job/mount_job.ts";

/**
 * Makes the tree that `--subset` and `--shuffle` ask for. Both look nodes up, so all of the container is
 * looked at before.
 */
export async function arrange(
  { subset, shuffle }: MountJob,
  container: ServedContainer,
): Promise<ServedContainer> {
  await container.complete();
  const tree = await arrangeTree(container.tree, { subset, shuffle });
  return {
    tree,
    get info() {
      return container.info;
    },
    complete: () => Promise.resolve(),
  };
}
