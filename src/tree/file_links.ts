import { RecordfsError } from "../base/errors.ts";
import { NotLoaded } from "./not_loaded.ts";
import { newExtent, type NodeId, type NodeStat, type Tree } from "./tree.ts";

const extent = newExtent();

/**
 * Whether an entry is a link that leads to no file, which is left out of walks: what a directory holds that one leads
 * to is met where it lies.
 */
export function leadsToNoFile(tree: Tree, node: NodeId): boolean {
  if (!tree.isLink?.(node)) return false;
  try {
    return !tree.locate(node, extent);
  } catch (error) {
    if (error instanceof NotLoaded || !(error instanceof RecordfsError)) {
      throw error;
    }
    return false; // who reads it is told
  }
}

/** {@linkcode Tree.stat}, with the size of the file that a link leads to: 0 where it leads to none. */
export function statFile(tree: Tree, node: NodeId, into: NodeStat): boolean {
  into.isLink = false;
  if (!tree.stat(node, into)) return false;
  if (into.isLink) into.size = tree.locate(node, extent) ? extent.length : 0;
  return true;
}
