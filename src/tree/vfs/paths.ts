import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../not_loaded.ts";
import { encodeName, partsOf } from "../../base/names.ts";
import { type NodeId, ROOT, type Tree } from "../tree.ts";

/**
 * Finds the node at a path, or 0: names separated by slashes from the root, with or without a leading slash. Empty
 * parts and `.` are ignored, `..` is not resolved. Links to directories are followed.
 */
export function* findNode(tree: Tree, path: string): Steps<NodeId> {
  let node = ROOT;
  for (const part of partsOf(path)) {
    const name = encodeName(part);
    const parent = node;
    node = yield* whenLoaded(() => tree.lookup(parent, name, 0, name.length));
    if (node === 0) return 0;
    if (tree.isLink?.(node)) {
      const target = tree.target?.(node) ?? 0;
      if (yield* whenLoaded(() => tree.isDirectory(target))) node = target;
    }
  }
  return node;
}

/** Removes empty parts and `.` from a path. */
export function normalise(path: string): string {
  return partsOf(path).join("/");
}
