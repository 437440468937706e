import type { NodeView } from "../node_view.ts";
import { filesOf } from "../samples_of.ts";
import {
  type EntryVisitor,
  type NodeId,
  type NodeStat,
  reopenHandle,
  ROOT,
  type SampleNodes,
  type Tree,
} from "../tree.ts";
import { type WrappedHandle, WrappedTree } from "./wrapped_tree.ts";

/**
 * A directory of a tree, with all its contents, as a tree of its own.
 *
 * Nodes keep their ids, except that the directory and the root swap theirs. Nodes outside the directory can still be
 * read by their ids, but no listing or lookup returns them.
 */
export class PrefixTree extends WrappedTree<NodeId> {
  declare readonly view?: (node: NodeId) => NodeView | undefined;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly samples?: () => SampleNodes;

  constructor(inner: Tree, directory: NodeId) {
    super(inner, directory, import.meta.url);
    // The presence of these methods says whether there are links, and samples other than files.
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

  /** Returns the samples in the directory, in order; if the directory is inside a sample, its files. */
  #samplesBelow(): SampleNodes {
    const { areDirectories, runs } = this.inner.samples!();
    const below = [...runs].filter(({ first, count }) =>
      count > 0 && this.#isBelow(first)
    );
    return below.length === 0
      ? filesOf(this)()
      : { areDirectories, runs: below };
  }

  /** Whether a node is below the directory. Skipped samples (node 0) are not. */
  #isBelow(first: NodeId): boolean {
    for (let node = first; node > ROOT;) {
      node = this.inner.parent(node);
      if (node === this.seed) return true;
    }
    return false;
  }
}

export async function reopenTree(
  { inner, seed }: WrappedHandle<NodeId>,
): Promise<Tree> {
  return new PrefixTree(await reopenHandle(inner), seed);
}
