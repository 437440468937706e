import type { NodeView } from "./node_view.ts";
import { filesOf } from "./samples_of.ts";
import {
  type EntryVisitor,
  type NodeId,
  type NodeStat,
  reopenHandle,
  ROOT,
  type SampleNodes,
  type Tree,
} from "./tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";

/**
 * A directory of a tree, with all that is in it, as a tree of its own.
 *
 * Nodes keep their ids, but for the directory and the root, which swap theirs. What is not in the directory still can
 * be described and read by its id, which nobody is told.
 */
export class PrefixTree extends WrappedTree<NodeId> {
  declare readonly view?: (node: NodeId) => NodeView | undefined;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly samples?: () => SampleNodes;

  /**
   * @param inner Belongs to the tree from now on.
   * @param directory Which one of its directories.
   */
  constructor(inner: Tree, directory: NodeId) {
    super(inner, directory, import.meta.url);
    // Whether there are such methods tells whether there are links, and samples other than files.
    if (inner.isLink) this.isLink = (node) => inner.isLink!(node);
    if (inner.readLink) {
      this.readLink = (node, into, at) => inner.readLink!(node, into, at);
    }
    if (inner.target) {
      this.target = (node) => this.#swap(inner.target!(node));
    }
    if (inner.view) this.view = (node) => inner.view!(this.#swap(node));
    if (inner.samples) this.samples = () => this.#samplesBelow();
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return this.inner.lookup(this.#swap(parent), name, start, end);
  }

  override parent(node: NodeId): NodeId {
    if (node === ROOT) return ROOT;
    return this.#swap(this.inner.parent(this.#swap(node)));
  }

  override isDirectory(node: NodeId): boolean {
    return this.inner.isDirectory(this.#swap(node));
  }

  override nameOf(node: NodeId, into: Uint8Array): number {
    return node === ROOT ? 0 : super.nameOf(node, into);
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.inner.list(this.#swap(dir), cursor, visit);
  }

  override stat(node: NodeId, into: NodeStat): boolean {
    return this.inner.stat(this.#swap(node), into);
  }

  #swap(node: NodeId): NodeId {
    if (node === ROOT) return this.seed;
    return node === this.seed ? ROOT : node;
  }

  /** Those in the directory, in their order; where it is in a sample itself, its files. */
  #samplesBelow(): SampleNodes {
    const { areDirectories, runs } = this.inner.samples!();
    const below = [...runs].filter(({ first, count }) =>
      count > 0 && this.#isBelow(first)
    );
    return below.length === 0
      ? filesOf(this)()
      : { areDirectories, runs: below };
  }

  /** What the tree leaves out of its samples is nowhere. */
  #isBelow(first: NodeId): boolean {
    for (let node = first; node > ROOT;) {
      node = this.inner.parent(node);
      if (node === this.seed) return true;
    }
    return false;
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export async function reopenTree(
  { inner, seed }: WrappedHandle<NodeId>,
): Promise<Tree> {
  return new PrefixTree(await reopenHandle(inner), seed);
}
