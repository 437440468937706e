import { RecordfsError } from "../../base/errors.ts";
import { encodeName } from "../../base/names.ts";
import { lazySources, openedSources } from "../joined_sources.ts";
import { NameTable, type NameTableColumns } from "../names/name_table.ts";
import { NameTableBuilder } from "../names/name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "../shared_numbers.ts";
import { newStat, type NodeId, ROOT, type Tree } from "../tree.ts";

/** A tree, and its location in a union. */
export interface PlacedTree {
  readonly tree: Tree;
  /** Names from the root, at least one. No other tree is at, above or below this path. */
  readonly path: readonly string[];
  readonly name: string;
}

/** Ids shared by all trees of a union. The other half is left to the layers above it. */
export const UNION_IDS = 2 ** 52;

export function nodeShare(trees: number, ids = UNION_IDS): number {
  return Math.floor(ids / trees);
}

/** Tables of a union, over memory that threads share. */
export interface UnionColumns {
  /** The union's own directories. The records of its files are tree numbers: each is the root of that tree. */
  readonly names: NameTableColumns;
  /** Per tree: node of its root. */
  readonly roots: Float64Array;
  /** Per tree: offset added to the ids of all its other nodes. */
  readonly offsets: Float64Array;
  /** Tree numbers, ordered by node ids. */
  readonly byNode: Uint32Array;
  /** Per tree: number of its open sources, and index of the first. */
  readonly openedCounts: Uint32Array;
  readonly firstOpened: Uint32Array;
  /** Per tree: number of its lazy source lists, and number of the first. */
  readonly listCounts: Uint32Array;
  readonly firstLists: Uint32Array;
  readonly lastNode: NodeId;
  /** Modification time of the newest tree, in milliseconds since 1970. */
  readonly mtime: number;
  readonly openedSources: number;
  readonly lists: number;
}

/** Assigns ids to all nodes and sources of a union. Throws a {@linkcode RecordfsError} if a tree exceeds its share. */
export function makeColumns(
  placed: readonly PlacedTree[],
  ids: number,
): UnionColumns {
  const share = nodeShare(placed.length, ids);
  const trees = placed.map(({ tree }) => tree);
  for (const { tree, name } of placed) {
    const nodes = tree.lastNode ?? tree.nodeCount;
    if (nodes <= share) continue;
    throw new RecordfsError(
      "too-large",
      `Cannot show ${name} among ${placed.length} sources: it may have ` +
        `up to ${nodes} files and directories, and each source has ${share} ` +
        "inode numbers. Show it by itself",
      { path: name, expected: share, actual: nodes },
    );
  }
  const names = nameRoots(placed);
  const roots = sharedFloat64(trees.length);
  for (let node = ROOT; node <= names.length; node++) {
    const tree = names.record(node);
    if (tree >= 0) roots[tree] = node;
  }
  return {
    names: names.columns,
    roots,
    ...placeNodes(trees, names.length),
    ...placeSources(trees),
    mtime: newest(trees),
  };
}

/** Builds the union's own directories, with the trees as their files. */
function nameRoots(placed: readonly PlacedTree[]): NameTable {
  const root: Directory = new Map();
  let entries = 0;
  for (const [tree, { path }] of placed.entries()) {
    let directory = root;
    for (const name of path.slice(0, -1)) {
      let below = directory.get(name);
      if (below === undefined) {
        below = new Map();
        directory.set(name, below);
        entries++;
      }
      directory = below as Directory;
    }
    directory.set(path.at(-1)!, tree);
    entries++;
  }
  const builder = new NameTableBuilder(entries, new Uint8Array(0));
  const queue = [root];
  for (const directory of queue) {
    builder.nextDirectory();
    for (const [name, content] of directory) {
      const bytes = encodeName(name);
      const start = builder.intern(bytes);
      const end = start + bytes.length;
      if (typeof content === "number") builder.addFile(start, end, content);
      else {
        builder.addDirectory(start, end);
        queue.push(content);
      }
    }
  }
  return builder.finish();
}

type Directory = Map<string, number | Directory>;

/** Assigns each tree its ids, after the union's own: first trees with a fixed node count, then those that may grow. */
function placeNodes(trees: readonly Tree[], own: number) {
  const offsets = sharedFloat64(trees.length);
  const numbers = trees.map((_, at) => at);
  const isSettled = (at: number) => trees[at]!.lastNode === undefined;
  const order = [
    ...numbers.filter(isSettled),
    ...numbers.filter((at) => !isSettled(at)),
  ];
  let last = own;
  for (const at of order) {
    const { lastNode, nodeCount } = trees[at]!;
    offsets[at] = last - ROOT; // its root's id is among the union's own
    last += (lastNode ?? nodeCount) - ROOT;
  }
  return { offsets, byNode: sharedUint32(order), lastNode: last };
}

/** Assigns source indices to each tree, in the order of {@linkcode JoinedSources}. */
function placeSources(trees: readonly Tree[]) {
  const opened = trees.map(({ sources }) => openedSources(sources).length);
  const lists = trees.map(({ sources }) => lazySources(sources).length);
  const sum = (counts: readonly number[]) =>
    counts.reduce((sum, count) => sum + count, 0);
  return {
    openedCounts: sharedUint32(opened),
    firstOpened: sharedUint32(firstsOf(opened)),
    listCounts: sharedUint32(lists),
    firstLists: sharedUint32(firstsOf(lists)),
    openedSources: sum(opened),
    lists: sum(lists),
  };
}

/** Returns the running sum before each count. */
function firstsOf(counts: readonly number[]): number[] {
  let next = 0;
  return counts.map((count) => {
    next += count;
    return next - count;
  });
}

/** Returns the index in a union of a source of one of its trees. */
export function sourceIn(
  { openedCounts, firstOpened, listCounts, firstLists, openedSources, lists }:
    UnionColumns,
  tree: number,
  source: number,
): number {
  const behind = source - openedCounts[tree]!;
  if (behind < 0) return firstOpened[tree]! + source;
  // Lists are interleaved, both in the union and in the tree.
  const count = listCounts[tree]!;
  const list = firstLists[tree]! + behind % count;
  return openedSources + list + Math.floor(behind / count) * lists;
}

function newest(trees: readonly Tree[]): number {
  const stat = newStat();
  let mtime = 0;
  for (const tree of trees) {
    tree.stat(ROOT, stat);
    mtime = Math.max(mtime, stat.mtime);
  }
  return mtime;
}
