import { RecordfsError } from "../base/errors.ts";
import { encodeName } from "../base/names.ts";
import { lazySources, openedSources } from "./joined_sources.ts";
import { NameTable, type NameTableColumns } from "./names/name_table.ts";
import { NameTableBuilder } from "./names/name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "./shared_numbers.ts";
import { newStat, type NodeId, ROOT, type Tree } from "./tree.ts";

/** A tree, and where it is to stand among others. */
export interface PlacedTree {
  readonly tree: Tree;
  /** Names from the root, at least one; no other tree stands there, above or below. */
  readonly path: readonly string[];
  /** What messages call it. */
  readonly name: string;
}

/** Ids that all trees of a union have together; the other half is left to what stands above it. */
export const UNION_IDS = 2 ** 52;

/** How many of them each of so many trees has. */
export function nodeShare(trees: number, ids = UNION_IDS): number {
  return Math.floor(ids / trees);
}

/** What is known of a union, over memory that threads share. */
export interface UnionColumns {
  /** The union's own directories; the records of its files are the trees, whose roots they are. */
  readonly names: NameTableColumns;
  /** Per tree: the node of its root. */
  readonly roots: Float64Array;
  /** Per tree: what is added to the ids of all its other nodes. */
  readonly offsets: Float64Array;
  /** The trees in the order of their ids. */
  readonly byNode: Uint32Array;
  /** Per tree: how many of its sources are open from the start, and the index of the first of them. */
  readonly openedCounts: Uint32Array;
  readonly firstOpened: Uint32Array;
  /** Per tree: how many lists of others it has, and the number of the first of them. */
  readonly listCounts: Uint32Array;
  readonly firstLists: Uint32Array;
  /** The largest id that a node can come to have. */
  readonly lastNode: NodeId;
  /** Modification of the newest tree, in milliseconds since 1970. */
  readonly mtime: number;
  /** How many sources are open from the start. */
  readonly openedSources: number;
  /** How many lists there are of those that are opened when they are asked for. */
  readonly lists: number;
}

/**
 * Finds the ids of all nodes and sources of a union.
 *
 * @throws {RecordfsError} If a tree has more nodes than its share.
 */
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
      `${name} cannot be shown among ${placed.length} sources: it may come to have ${nodes} files and ` +
        `directories, and each source has ${share} inode numbers; show it by itself`,
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

/** The union's own directories, with the trees as the files in them. */
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
  for (const directory of queue) { // breadth first
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

/** Names, and what they are of: a tree, by its number, or a directory. */
type Directory = Map<string, number | Directory>;

/** Gives each tree its ids: behind the own ones, first those of trees that have no more than they say. */
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
    offsets[at] = last - ROOT; // its root has no id here
    last += (lastNode ?? nodeCount) - ROOT;
  }
  return { offsets, byNode: sharedUint32(order), lastNode: last };
}

/** Gives each tree indices for its sources: as {@linkcode JoinedSources} has them. */
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

/** What comes before each, of so many. */
function firstsOf(counts: readonly number[]): number[] {
  let next = 0;
  return counts.map((count) => {
    next += count;
    return next - count;
  });
}

/** The index in a union of a source of one of its trees. */
export function sourceIn(
  { openedCounts, firstOpened, listCounts, firstLists, openedSources, lists }:
    UnionColumns,
  tree: number,
  source: number,
): number {
  const behind = source - openedCounts[tree]!;
  if (behind < 0) return firstOpened[tree]! + source;
  // Lists take turns, there as in the tree.
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
