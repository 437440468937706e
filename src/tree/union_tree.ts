import { RecordfsError } from "../errors.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { encodeName } from "../names.ts";
import { JoinedSources, lazySources, openedSources } from "./joined_sources.ts";
import { NameTable, type NameTableColumns } from "./name_table.ts";
import { NameTableBuilder } from "./name_table_builder.ts";
import { reviveSeed } from "./revive_seed.ts";
import type { SampleNodes, SampleRun } from "./tree.ts";
import { FileWalk } from "./samples_of.ts";
import {
  areOpen,
  type EntryVisitor,
  type Extent,
  newStat,
  type NodeId,
  type NodeStat,
  ROOT,
  type Tree,
  type TreeSeed,
} from "./tree.ts";

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
interface UnionColumns {
  /** The union's own directories; the records of its files are the trees, whose roots they are. */
  readonly names: NameTableColumns;
  /** Per tree: the node of its root. */
  readonly roots: Float64Array;
  /** Per tree: what is added to the ids of all its other nodes. */
  readonly offsets: Float64Array;
  /** The trees in the order of their ids. */
  readonly byNode: Uint32Array;
  /** Per tree: what is added to the index of a source, after it is multiplied by its step. */
  readonly firstSources: Uint32Array;
  /** Per tree: how far its sources are apart. */
  readonly sourceSteps: Uint32Array;
  /** The largest id that a node can come to have. */
  readonly lastNode: NodeId;
  /** Modification of the newest tree, in milliseconds since 1970. */
  readonly mtime: number;
  /** How many sources are open from the start. */
  readonly openedSources: number;
  /** How many trees open theirs when they are asked for. */
  readonly lazyTrees: number;
}

/** What another thread rebuilds the tree from. */
interface SeedData {
  readonly columns: UnionColumns;
  readonly trees: readonly TreeSeed[];
}

/**
 * Several trees as one, each below a path of its own.
 *
 * Node ids: the union's own directories and the roots of the trees; then the other nodes of the trees that say how
 * many they have, tree by tree, so that whoever keeps a bit for each node needs few; then, a share for each, those of
 * trees that may come to have more.
 */
export class UnionTree implements Tree {
  readonly sampleOf?: (node: NodeId) => number;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly sources: Tree["sources"];
  readonly #trees: readonly Tree[];
  readonly #columns: UnionColumns;
  readonly #names: NameTable;
  readonly #own: number;
  // The tree that was found last, and its ids.
  #tree = -1;
  #before = 0;
  #last = 0;
  // What a listing is translated by.
  #listed = 0;
  #visit: EntryVisitor | undefined;

  private constructor(
    trees: readonly Tree[],
    columns: UnionColumns,
    opened: readonly ByteSource[],
  ) {
    this.#trees = trees;
    this.#columns = columns;
    this.#names = new NameTable(columns.names);
    this.#own = this.#names.length;
    const { openedSources, lazyTrees } = columns;
    const lazy = trees.flatMap(({ sources }) => lazySources(sources));
    this.sources = lazyTrees === 0
      ? opened
      : new JoinedSources(openedSources, opened, lazy);
    // Whether there are such methods tells whether there are checksums, and links.
    if (trees.some(({ sampleOf }) => sampleOf !== undefined)) {
      this.sampleOf = (node) => this.#sampleOf(node);
    }
    if (trees.some(({ isLink }) => isLink !== undefined)) {
      this.isLink = (node) => this.#isLink(node);
      this.readLink = (node, into, at) => this.#readLink(node, into, at);
    }
  }

  /**
   * Joins trees, which from now on belong to the new one.
   *
   * @param ids How many ids they may have together; each was opened for its {@linkcode nodeShare}.
   * @throws {RecordfsError} If one has more nodes than its share.
   */
  static of(placed: readonly PlacedTree[], ids = UNION_IDS): UnionTree {
    const share = nodeShare(placed.length, ids);
    const trees = placed.map(({ tree }) => tree);
    for (const { tree, name } of placed) {
      const nodes = tree.lastNode ?? tree.nodeCount;
      if (nodes > share) throw tooMany(name, nodes, share, placed.length);
    }
    const names = nameRoots(placed);
    const roots = sharedFloats(trees.length);
    for (let node = ROOT; node <= names.length; node++) {
      const tree = names.record(node);
      if (tree >= 0) roots[tree] = node;
    }
    const columns = {
      names: names.columns,
      roots,
      ...placeNodes(trees, names.length),
      ...placeSources(trees),
      mtime: newest(trees),
    };
    const opened = trees.flatMap(({ sources }) => openedSources(sources));
    return new UnionTree(trees, columns, opened);
  }

  /** Rebuilds a shared tree over those that were rebuilt, without the sources that are open elsewhere. */
  static revive(trees: readonly Tree[], columns: UnionColumns): UnionTree {
    return new UnionTree(trees, columns, []);
  }

  get nodeCount(): number {
    // The root of each tree is counted on both sides.
    return this.#trees.reduce(
      (sum, { nodeCount }) => sum + nodeCount - 1,
      this.#own,
    );
  }

  get lastNode(): NodeId {
    return this.#columns.lastNode;
  }

  /** Directories that are none of a tree's, and the trees' roots; the union's own root is not counted. */
  get ownDirectories(): number {
    return this.#own - 1;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const at = this.#find(parent);
    if (at < 0) return this.#names.lookup(parent, name, start, end);
    const local = this.#localOf(parent, at);
    return this.#nodeOf(this.#trees[at]!.lookup(local, name, start, end), at);
  }

  parent(node: NodeId): NodeId {
    if (node <= this.#own) {
      return node === ROOT ? ROOT : this.#names.parent(node);
    }
    const at = this.#find(node);
    if (at < 0) return ROOT;
    return this.#nodeOf(this.#trees[at]!.parent(this.#localOf(node, at)), at);
  }

  isDirectory(node: NodeId): boolean {
    const at = this.#find(node);
    return at < 0
      ? this.#names.isDirectory(node)
      : this.#trees[at]!.isDirectory(this.#localOf(node, at));
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    if (node <= this.#own) {
      return node === ROOT ? 0 : this.#names.nameOf(node, into);
    }
    const at = this.#find(node);
    if (at < 0) return 0;
    return this.#trees[at]!.nameOf?.(this.#localOf(node, at), into) ?? 0;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const at = this.#find(dir);
    if (at < 0) return this.#names.list(dir, cursor, visit);
    const [listedBefore, visitBefore] = [this.#listed, this.#visit];
    this.#listed = at;
    this.#visit = visit;
    try {
      this.#trees[at]!.list(this.#localOf(dir, at), cursor, this.#translate);
    } finally {
      this.#listed = listedBefore; // of a listing whose visitor lists
      this.#visit = visitBefore;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const at = this.#find(node);
    if (at >= 0) return this.#trees[at]!.stat(this.#localOf(node, at), into);
    into.isDirectory = this.#names.isDirectory(node);
    into.size = 0;
    into.mtime = this.#columns.mtime;
    return into.isDirectory;
  }

  locate(node: NodeId, into: Extent): boolean {
    const at = this.#find(node);
    if (at < 0) return false;
    if (!this.#trees[at]!.locate(this.#localOf(node, at), into)) return false;
    if (into.source >= 0) {
      const { firstSources, sourceSteps } = this.#columns;
      into.source = firstSources[at]! + into.source * sourceSteps[at]!;
    }
    return true;
  }

  /** Those of the trees, in the order in which these were given. */
  samples(): SampleNodes {
    const all = this.#trees.map((tree) =>
      tree.samples?.() ?? new FileWalk(tree).samples()
    );
    const [{ areDirectories }] = all as [SampleNodes];
    const areAlike = all.every((one) => one.areDirectories === areDirectories);
    return {
      areDirectories: areAlike ? areDirectories : undefined,
      runs: this.#translated(all),
    };
  }

  share(): TreeSeed {
    const data: SeedData = {
      columns: this.#columns,
      trees: this.#trees.map((tree) => tree.share()),
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const tree of this.#trees) tree.close();
  }

  readonly #translate: EntryVisitor = (name, start, end, node, next) =>
    this.#visit!(name, start, end, this.#nodeOf(node, this.#listed), next);

  *#translated(all: readonly SampleNodes[]): Generator<SampleRun> {
    for (const [at, { runs }] of all.entries()) {
      for (const { first, stride, count } of runs) {
        yield { first: this.#nodeOf(first, at), stride, count };
      }
    }
  }

  #sampleOf(node: NodeId): number {
    const at = this.#find(node);
    if (at < 0) return -1;
    return this.#trees[at]!.sampleOf?.(this.#localOf(node, at)) ?? -1;
  }

  #isLink(node: NodeId): boolean {
    const at = this.#find(node);
    return at >= 0 &&
      this.#trees[at]!.isLink?.(this.#localOf(node, at)) === true;
  }

  #readLink(node: NodeId, into: Uint8Array, start: number): number {
    const at = this.#find(node);
    if (at < 0) return -1;
    const local = this.#localOf(node, at);
    return this.#trees[at]!.readLink?.(local, into, start) ?? -1;
  }

  /** The tree that a node is of; -1 for the union's own directories, and for no node. */
  #find(node: NodeId): number {
    if (node > this.#before && node <= this.#last) return this.#tree;
    if (node <= this.#own) return this.#names.record(node);
    if (!(node <= this.#columns.lastNode)) return -1;
    const { byNode, offsets, lastNode } = this.#columns;
    let low = 0; // last tree whose ids do not begin after the node
    let high = byNode.length - 1;
    while (low < high) {
      const middle = low + high + 1 >>> 1;
      if (offsets[byNode[middle]!]! + ROOT < node) low = middle;
      else high = middle - 1;
    }
    const next = byNode[low + 1];
    this.#tree = byNode[low]!;
    this.#before = offsets[this.#tree]! + ROOT;
    this.#last = next === undefined ? lastNode : offsets[next]! + ROOT;
    return this.#tree;
  }

  /** What a tree calls a node of its own. */
  #localOf(node: NodeId, at: number): NodeId {
    return node <= this.#own ? ROOT : node - this.#columns.offsets[at]!;
  }

  /** What the union calls a node of a tree. */
  #nodeOf(local: NodeId, at: number): NodeId {
    if (local > ROOT) return local + this.#columns.offsets[at]!;
    return local === ROOT ? this.#columns.roots[at]! : 0;
  }
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
function placeNodes(
  trees: readonly Tree[],
  own: number,
): Pick<UnionColumns, "offsets" | "byNode" | "lastNode"> {
  const offsets = sharedFloats(trees.length);
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
  return { offsets, byNode: sharedWords(order), lastNode: last };
}

/** Gives each tree indices for its sources, as {@linkcode JoinedSources} has them. */
function placeSources(
  trees: readonly Tree[],
): Pick<
  UnionColumns,
  "firstSources" | "sourceSteps" | "openedSources" | "lazyTrees"
> {
  const counts = trees.map(({ sources }) => openedSources(sources).length);
  const opened = counts.reduce((sum, count) => sum + count, 0);
  const isOpen = trees.map(({ sources }) => areOpen(sources));
  const lazyTrees = isOpen.filter((open) => !open).length;
  let nextOpen = 0;
  let nextLazy = opened;
  const firsts = counts.map((count, at) => {
    if (!isOpen[at]) return nextLazy++;
    nextOpen += count;
    return nextOpen - count;
  });
  return {
    firstSources: sharedWords(firsts),
    sourceSteps: sharedWords(isOpen.map((open) => open ? 1 : lazyTrees)),
    openedSources: opened,
    lazyTrees,
  };
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

function sharedFloats(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8 * length));
}

function sharedWords(values: readonly number[]): Uint32Array {
  const column = new Uint32Array(new SharedArrayBuffer(4 * values.length));
  column.set(values);
  return column;
}

function tooMany(
  name: string,
  nodes: number,
  share: number,
  trees: number,
): RecordfsError {
  return new RecordfsError(
    "too-large",
    `${name} cannot be shown among ${trees} sources: it may come to have ${nodes} files and directories, and ` +
      `each source has ${share} inode numbers; show it by itself`,
    { path: name, expected: share, actual: nodes },
  );
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export async function reviveTree(data: unknown): Promise<Tree> {
  const { columns, trees } = data as SeedData;
  return UnionTree.revive(await Promise.all(trees.map(reviveSeed)), columns);
}
