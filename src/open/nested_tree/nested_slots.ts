import { FormatError } from "../../base/errors.ts";
import { decodeName, encodeName } from "../../base/names.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import {
  indexAmong,
  sharedBytes,
  sharedFloat64,
  sharedUint32,
} from "../../tree/shared_numbers.ts";
import { type NodeId, ROOT, type Tree } from "../../tree/tree.ts";
import { isDataset, type NestedNames, suffixLength } from "./nested_names.ts";

/** The nested containers of one tree, over memory that threads share. */
export interface NestedSlots {
  /** Per container: its node in the tree, ascending. */
  readonly nodes: Float64Array;
  /** Per container: number of bytes that its shown name lacks at the end. */
  readonly cuts: Uint8Array;
  /** All paths, and per container, plus one, where its path starts. */
  readonly paths: Uint8Array;
  readonly starts: Uint32Array;
  /** Every end that a shown name lacks. */
  readonly ends: readonly Uint8Array[];
}

/** Returns the number of the container at a node, or -1. */
export function slotOf({ nodes }: NestedSlots, node: NodeId): number {
  return indexAmong(nodes, node);
}

/** Returns the path of a container in its tree. */
export function slotPath(
  { paths, starts }: NestedSlots,
  slot: number,
): string {
  return decodeName(paths, starts[slot]!, starts[slot + 1]!);
}

export const NO_SLOTS: NestedSlots = {
  nodes: new Float64Array(0),
  cuts: new Uint8Array(0),
  paths: new Uint8Array(0),
  starts: new Uint32Array(1),
  ends: [],
};

interface Found {
  readonly node: NodeId;
  readonly path: string;
  readonly name: string;
  readonly directory: NodeId;
  /** Length of the suffix; 0 for a directory. */
  readonly suffix: number;
}

interface Entry {
  readonly name: string;
  readonly node: NodeId;
  readonly isDirectory: boolean;
}

/** Finds the nested containers of a tree by names alone. What lies below one is not searched. */
export function* findSlots(
  tree: Tree,
  names: NestedNames,
): Steps<NestedSlots> {
  const found: Found[] = [];
  const queue = [
    { node: ROOT, path: "", entries: yield* entriesOf(tree, ROOT) },
  ];
  for (const { node: directory, path, entries } of queue) {
    const at = (name: string) => path === "" ? name : `${path}/${name}`;
    for (const { name, node, isDirectory } of entries) {
      const one = { node, path: at(name), name, directory };
      if (!isDirectory) {
        const suffix = suffixLength(name, names);
        if (suffix > 0) found.push({ ...one, suffix });
        continue;
      }
      const entries = yield* entriesOf(tree, node);
      const isOne = yield* isShownAsOne(tree, entries, names);
      if (isOne) found.push({ ...one, suffix: 0 });
      else queue.push({ node, path: at(name), entries });
    }
    entries.length = 0; // no longer needed
  }
  found.sort((a, b) => a.node - b.node);
  const cuts = names.strips
    ? yield* cutsOf(tree, found)
    : new Uint32Array(found.length);
  return columnsOf(found, cuts);
}

/** Lists a directory, without links. One that the container is damaged at has no nested containers. */
function* entriesOf(tree: Tree, directory: NodeId): Steps<Entry[]> {
  const entries: Entry[] = [];
  let cursor = 0;
  try {
    yield* whenLoaded(() =>
      tree.list(directory, cursor, (bytes, start, end, node, next) => {
        const isDirectory = tree.isDirectory(node);
        const isLink = tree.isLink?.(node) === true;
        const name = decodeName(bytes, start, end);
        if (!isLink) entries.push({ name, node, isDirectory });
        cursor = next;
        return true;
      })
    );
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return entries;
}

/** Whether a directory is one container, by the names in it. */
function* isShownAsOne(
  tree: Tree,
  entries: readonly Entry[],
  names: NestedNames,
): Steps<boolean> {
  const namesIn = function* (name: string): Steps<string[] | undefined> {
    const entry = entries.find((entry) => entry.name === name);
    if (!entry?.isDirectory) return undefined;
    return (yield* entriesOf(tree, entry.node)).map(({ name }) => name);
  };
  return yield* isDataset(entries.map(({ name }) => name), namesIn, names);
}

/** Returns how much of each name is not shown. Names that would be equal to another stay whole. */
function* cutsOf(
  tree: Tree,
  found: readonly Found[],
): Steps<Uint32Array> {
  const stripped = ({ directory, name, suffix }: Found) =>
    `${directory}/${name.slice(0, -suffix)}`;
  const counts = new Map<string, number>();
  for (const one of found) {
    if (one.suffix === 0) continue;
    const key = stripped(one);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const cuts = new Uint32Array(found.length);
  for (const [i, one] of found.entries()) {
    if (one.suffix === 0 || counts.get(stripped(one))! > 1) continue;
    const name = encodeName(one.name.slice(0, -one.suffix));
    const taken = () => tree.lookup(one.directory, name, 0, name.length);
    const isNoName = name.length <= 2 && name.every((byte) => byte === 0x2e);
    if (isNoName || (yield* whenLoaded(taken)) !== 0) continue;
    cuts[i] = one.suffix;
  }
  return cuts;
}

function columnsOf(found: readonly Found[], cuts: Uint32Array): NestedSlots {
  const paths = found.map(({ path }) => encodeName(path));
  const starts = sharedUint32(found.length + 1);
  for (const [i, { length }] of paths.entries()) {
    starts[i + 1] = starts[i]! + length;
  }
  const all = sharedBytes(new Uint8Array(starts.at(-1)!));
  for (const [i, path] of paths.entries()) all.set(path, starts[i]);
  const ends = new Set<string>();
  for (const [i, { name }] of found.entries()) {
    if (cuts[i]! > 0) ends.add(name.slice(-cuts[i]!));
  }
  return {
    nodes: sharedFloat64(found.map(({ node }) => node)),
    cuts: sharedBytes(cuts),
    paths: all,
    starts,
    ends: [...ends].map(encodeName),
  };
}
