import type { ByteSource } from "../../io/storage/byte_source.ts";
import { INSIDE } from "../../io/storage/chained_path.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { DirectoryTree } from "../../tree/directory_tree.ts";
import type { Tree } from "../../tree/tree.ts";
import { type OuterOptions, TreeStorage } from "../tree_storage.ts";
import type { LevelContent } from "./nested_level.ts";
import type { NestedSlots } from "./nested_slots.ts";

/**
 * Returns the content of the outermost level: a directory, or a container.
 *
 * @param storage Storage of the path.
 * @param opened Sources of the tree that are open from the start, in a thread whose tree does not have them. Closed with
 * the level.
 */
export function rootContent(
  tree: Tree,
  { path, slots, options }: {
    readonly path: string;
    readonly slots: NestedSlots;
    readonly options: OuterOptions;
  },
  storage: Storage,
  opened: readonly ByteSource[] = [],
): LevelContent {
  if (tree instanceof DirectoryTree) {
    const { path } = tree.sources;
    return {
      ...{ path, tree, slots, storage },
      pathOf: (below) => `${path}/${below}`,
      close: () => tree.close(),
    };
  }
  const inner = new TreeStorage(storage, path, tree, options, false, opened);
  return {
    ...{ path, tree, slots, storage: inner },
    pathOf: (below) => `${path}${INSIDE}${below}`,
    close() {
      inner.close();
      tree.close();
    },
  };
}
