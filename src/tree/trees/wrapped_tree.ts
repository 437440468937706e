import type { NodeView } from "../node_view.ts";
import {
  type EntryVisitor,
  type Extent,
  type NodeId,
  type NodeStat,
  type Tree,
  type TreeHandle,
} from "../tree.ts";

export interface WrappedHandle<Seed> {
  readonly inner: TreeHandle;
  readonly seed: Seed;
}

/**
 * A tree over another one. It delegates every call that a subclass does not override. `Seed` is the data from which
 * another thread rebuilds it, besides the inner tree.
 */
export abstract class WrappedTree<Seed> implements Tree {
  readonly sampleOf?: (node: NodeId) => number;
  readonly view?: (node: NodeId) => NodeView | undefined;
  protected readonly inner: Tree;
  protected readonly seed: Seed;
  readonly #module: string;

  /**
   * @param inner Owned by this tree from then on.
   * @param module URL of the subclass's module, which exports `reopenTree(data: WrappedHandle)`.
   */
  constructor(inner: Tree, seed: Seed, module: string) {
    this.inner = inner;
    this.seed = seed;
    this.#module = module;
    // The presence of these methods says whether there are checksums and views.
    if (inner.sampleOf) this.sampleOf = (node) => inner.sampleOf!(node);
    if (inner.view) this.view = (node) => inner.view!(node);
  }

  get sources(): Tree["sources"] {
    return this.inner.sources;
  }

  /** Number of nodes, including hidden ones, since all keep their ids. */
  get nodeCount(): number {
    return this.inner.nodeCount;
  }

  get lastNode(): NodeId | undefined {
    return this.inner.lastNode;
  }

  get hasTimes(): boolean | undefined {
    return this.inner.hasTimes;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return this.inner.lookup(parent, name, start, end);
  }

  parent(node: NodeId): NodeId {
    return this.inner.parent(node);
  }

  isDirectory(node: NodeId): boolean {
    return this.inner.isDirectory(node);
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    return this.inner.nameOf?.(node, into) ?? 0;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.inner.list(dir, cursor, visit);
  }

  stat(node: NodeId, into: NodeStat): boolean {
    return this.inner.stat(node, into);
  }

  locate(node: NodeId, into: Extent): boolean {
    return this.inner.locate(node, into);
  }

  share(): TreeHandle {
    const { inner, seed } = this;
    const data: WrappedHandle<Seed> = { inner: inner.share(), seed };
    return { module: this.#module, data };
  }

  close(): void {
    this.inner.close();
  }
}
