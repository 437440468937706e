import type { ByteSource } from "../../io/storage/byte_source.ts";
import {
  JoinedSources,
  lazySources,
  openedSources,
} from "../joined_sources.ts";
import { NameTable } from "../names/name_table.ts";
import { lastUpTo } from "../shared_numbers.ts";
import type { NodeView } from "../node_view.ts";
import { filesOf } from "../samples_of.ts";
import type { EntryVisitor, Extent, NodeId, NodeStat, Tree } from "../tree.ts";
import { reopenHandle, ROOT, type TreeHandle } from "../tree.ts";
import type { SampleNodes, SampleRun } from "../tree.ts";
import {
  makeColumns,
  type PlacedTree,
  sourceIn,
  UNION_IDS,
  type UnionColumns,
} from "./union_columns.ts";

interface Seed {
  readonly columns: UnionColumns;
  readonly trees: readonly TreeHandle[];
}

/**
 * Several trees as one, each below its own path.
 *
 * Node ids: first the union's own directories and the roots of the trees; then the other nodes of trees with a fixed
 * node count, tree by tree, so that a bitmap of nodes stays small; then a share for each tree that may grow.
 */
export class UnionTree implements Tree {
  readonly sampleOf?: (node: NodeId) => number;
  readonly view?: (node: NodeId) => NodeView | undefined;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly hasTimes: boolean;
  readonly sources: Tree["sources"];
  readonly #trees: readonly Tree[];
  readonly #columns: UnionColumns;
  readonly #names: NameTable;
  readonly #own: number;
  // Tree found last, and its id range.
  #tree = -1;
  #before = 0;
  #last = 0;
  // State of the listing in progress, for translating its nodes.
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
    const { openedSources, lists } = columns;
    const lazy = trees.flatMap(({ sources }) => lazySources(sources));
    this.sources = lists === 0
      ? opened
      : new JoinedSources(openedSources, opened, lazy);
    // The presence of these methods says whether there are checksums, views and links.
    if (trees.some(({ sampleOf }) => sampleOf !== undefined)) {
      this.sampleOf = (node) => {
        const at = this.#find(node);
        if (at < 0) return -1;
        return trees[at]!.sampleOf?.(this.#localOf(node, at)) ?? -1;
      };
    }
    this.hasTimes = trees.some(({ hasTimes }) => hasTimes === true);
    if (trees.some(({ view }) => view !== undefined)) {
      this.view = (node) => {
        const at = this.#find(node);
        return at < 0 ? undefined : trees[at]!.view?.(this.#localOf(node, at));
      };
    }
    if (trees.some(({ isLink }) => isLink !== undefined)) {
      this.isLink = (node) => {
        const at = this.#find(node);
        return at >= 0 &&
          trees[at]!.isLink?.(this.#localOf(node, at)) === true;
      };
      this.readLink = (node, into, start) => {
        const at = this.#find(node);
        if (at < 0) return -1;
        const local = this.#localOf(node, at);
        return trees[at]!.readLink?.(local, into, start) ?? -1;
      };
      this.target = (node) => {
        const at = this.#find(node);
        if (at < 0) return 0;
        const local = this.#localOf(node, at);
        return this.#nodeOf(trees[at]!.target?.(local) ?? 0, at);
      };
    }
  }

  /**
   * Joins trees, which the new tree owns from then on. Each tree was opened for its {@linkcode nodeShare} of `ids`;
   * throws a `RecordfsError` if one has more nodes.
   */
  static of(placed: readonly PlacedTree[], ids = UNION_IDS): UnionTree {
    const columns = makeColumns(placed, ids);
    const trees = placed.map(({ tree }) => tree);
    const opened = trees.flatMap(({ sources }) => openedSources(sources));
    return new UnionTree(trees, columns, opened);
  }

  static reopen(trees: readonly Tree[], columns: UnionColumns): UnionTree {
    return new UnionTree(trees, columns, []);
  }

  get nodeCount(): number {
    // Each tree's root is counted on both sides.
    return this.#trees.reduce(
      (sum, { nodeCount }) => sum + nodeCount - 1,
      this.#own,
    );
  }

  get lastNode(): NodeId {
    return this.#columns.lastNode;
  }

  /** Number of the union's own directories and the trees' roots, without the union's own root. */
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
      this.#listed = listedBefore; // nested: the visitor may list too
      this.#visit = visitBefore;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const at = this.#find(node);
    if (at >= 0) return this.#trees[at]!.stat(this.#localOf(node, at), into);
    into.isDirectory = this.#names.isDirectory(node);
    into.isLink = false;
    into.size = 0;
    into.mtime = this.#columns.mtime;
    return into.isDirectory;
  }

  locate(node: NodeId, into: Extent): boolean {
    const at = this.#find(node);
    if (at < 0) return false;
    if (!this.#trees[at]!.locate(this.#localOf(node, at), into)) return false;
    if (into.source >= 0) {
      into.source = sourceIn(this.#columns, at, into.source);
    }
    return true;
  }

  samples(): SampleNodes {
    const all = this.#trees.map((tree) => tree.samples?.() ?? filesOf(tree)());
    const [{ areDirectories }] = all as [SampleNodes];
    const areAlike = all.every((one) => one.areDirectories === areDirectories);
    return {
      areDirectories: areAlike ? areDirectories : undefined,
      runs: this.#translated(all),
    };
  }

  share(): TreeHandle {
    const trees = this.#trees.map((tree) => tree.share());
    const data: Seed = { columns: this.#columns, trees };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const tree of this.#trees) tree.close();
  }

  readonly #translate: EntryVisitor = (name, start, end, node, next) =>
    this.#visit!(name, start, end, this.#nodeOf(node, this.#listed), next);

  *#translated(all: readonly SampleNodes[]): Generator<SampleRun> {
    for (const [at, { runs }] of all.entries()) {
      for (const run of runs) {
        yield { ...run, first: this.#nodeOf(run.first, at) };
      }
    }
  }

  /** Returns the number of a node's tree; -1 for the union's own directories and for invalid nodes. */
  #find(node: NodeId): number {
    if (node > this.#before && node <= this.#last) return this.#tree;
    if (node <= this.#own) return this.#names.record(node);
    if (!(node <= this.#columns.lastNode)) return -1;
    const { byNode, offsets, lastNode } = this.#columns;
    // The first id of a tree is its offset plus ROOT plus 1.
    const place = lastUpTo(offsets, node - ROOT - 1, byNode.length, byNode);
    const next = byNode[place + 1];
    this.#tree = byNode[place]!;
    this.#before = offsets[this.#tree]! + ROOT;
    this.#last = next === undefined ? lastNode : offsets[next]! + ROOT;
    return this.#tree;
  }

  /** Translate node ids between the union and one of its trees. */
  #localOf(node: NodeId, at: number): NodeId {
    return node <= this.#own ? ROOT : node - this.#columns.offsets[at]!;
  }

  #nodeOf(local: NodeId, at: number): NodeId {
    if (local > ROOT) return local + this.#columns.offsets[at]!;
    return local === ROOT ? this.#columns.roots[at]! : 0;
  }
}

export async function reopenTree({ columns, trees }: Seed): Promise<Tree> {
  return UnionTree.reopen(await Promise.all(trees.map(reopenHandle)), columns);
}
