import type { RemoteSource } from "../../src/io/remote/remote_source.ts";
import { newExtent, type NodeId, type Tree } from "../../src/tree/tree.ts";

/** Number of links to prefetch ahead of a reader. */
const LINKS = 64;

/**
 * Prefetches the samples of the links that follow the one just read: a reader that walks an epoch by its
 * links reads them next. Readers of the same epoch share one position.
 */
export class EpochAhead {
  readonly #tree: Tree;
  readonly #objects: ReadonlyMap<number, RemoteSource>;
  /** Last link of each epoch whose sample was prefetched. */
  readonly #until = new Map<NodeId, NodeId>();
  readonly #extent = newExtent();

  constructor(tree: Tree, objects: ReadonlyMap<number, RemoteSource>) {
    this.#tree = tree;
    this.#objects = objects;
  }

  follow(link: NodeId): void {
    const tree = this.#tree;
    const epoch = tree.parent(link);
    const until = this.#until.get(epoch) ?? link;
    // A reader that restarts or jumps starts a new window.
    const isNear = until >= link && until <= link + LINKS;
    const from = isNear ? until : link;
    let next = from;
    while (next < link + LINKS) {
      if (tree.parent(next + 1) !== epoch) break;
      const sample = tree.target?.(next + 1) ?? 0;
      if (sample !== 0 && !this.#prefetch(sample)) break;
      next++;
    }
    this.#until.set(epoch, next);
  }

  /** @returns Whether the sample is fully cached or in flight. */
  #prefetch(sample: NodeId): boolean {
    const tree = this.#tree;
    if (!tree.isDirectory(sample)) return this.#expectFile(sample);
    let isSequential = true;
    tree.list(sample, 0, (_name, _start, _end, node) => {
      if (!tree.isDirectory(node)) isSequential = this.#expectFile(node);
      return isSequential;
    });
    return isSequential;
  }

  #expectFile(file: NodeId): boolean {
    const extent = this.#extent;
    if (!this.#tree.locate(file, extent) || extent.length === 0) return true;
    const { source, offset, length } = extent;
    return this.#objects.get(source)?.prefetch(offset, length) ?? true;
  }
}
