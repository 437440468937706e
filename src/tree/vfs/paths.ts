import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../not_loaded.ts";
import { encodeName, partsOf } from "../../base/names.ts";
import { SHORT, shortAsciiInto } from "../../base/short_ascii.ts";
import { type NodeId, ROOT, type Tree } from "../tree.ts";

/**
 * Finds the node at a path, or 0: names separated by slashes from the root, with or without a leading slash. Empty
 * parts and `.` are ignored, `..` is not resolved. Links to directories are followed.
 */
export function* findNode(tree: Tree, path: string): Steps<NodeId> {
  let node = ROOT;
  for (const part of partsOf(path)) {
    const parent = node;
    node = yield* whenLoaded(() => entryOf(tree, parent, part));
    if (node === 0) return 0;
  }
  return node;
}

/** {@linkcode findNode} without a procedure. Throws `NotLoaded` if a part of the index must be loaded first. */
export function nodeNow(tree: Tree, path: string): NodeId {
  let node = ROOT;
  for (const part of partsOf(path)) {
    node = entryOf(tree, node, part);
    if (node === 0) return 0;
  }
  return node;
}

/** Memory for a short name. */
const room = new Uint8Array(SHORT);
let isRoomUsed = false;

function entryOf(tree: Tree, parent: NodeId, part: string): NodeId {
  // A lookup that opens a nested container finds other names meanwhile.
  const isShort = !isRoomUsed && shortAsciiInto(part, room);
  const name = isShort ? room : encodeName(part);
  const end = isShort ? part.length : name.length;
  if (isShort) isRoomUsed = true;
  let node: NodeId;
  try {
    node = tree.lookup(parent, name, 0, end);
  } finally {
    if (isShort) isRoomUsed = false;
  }
  if (node === 0 || tree.isLink?.(node) !== true) return node;
  const target = tree.target?.(node) ?? 0;
  return tree.isDirectory(target) ? target : node;
}

/** Removes empty parts and `.` from a path. */
export function normalise(path: string): string {
  return partsOf(path).join("/");
}
