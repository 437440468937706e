import type { RemoteSource } from "../../src/io/remote/remote_source.ts";
import { newExtent, type NodeId, type Tree } from "../../src/tree/tree.ts";

/** Links ahead of a reader whose samples are fetched. */
const LINKS = 64;

/**
 * Fetches the samples that the links behind one lead to: who reads an epoch by its links comes to them next. Readers
 * who share an epoch are as one.
 */
export class EpochAhead {
  readonly #tree: Tree;
  readonly #objects: ReadonlyMap<number, RemoteSource>;
  /** The last link, by epoch, whose sample was asked for. */
  readonly #until = new Map<NodeId, NodeId>();
  readonly #extent = newExtent();

  /** @param objects The sources that lie on servers, by their index. */
  constructor(tree: Tree, objects: ReadonlyMap<number, RemoteSource>) {
    this.#tree = tree;
    this.#objects = objects;
  }

  /** Hears that a link was read. */
  follow(link: NodeId): void {
    const tree = this.#tree;
    const epoch = tree.parent(link);
    const until = this.#until.get(epoch) ?? link;
    // Who begins anew, or elsewhere, has its own way ahead.
    const isNear = until >= link && until <= link + LINKS;
    const from = isNear ? until : link;
    let next = from;
    while (next < link + LINKS) {
      if (tree.parent(next + 1) !== epoch) break;
      const sample = tree.target?.(next + 1) ?? 0;
      if (sample !== 0 && !this.#expect(sample)) break;
      next++;
    }
    this.#until.set(epoch, next);
  }

  /** @returns Whether all of a sample is there or under way. */
  #expect(sample: NodeId): boolean {
    const tree = this.#tree;
    if (!tree.isDirectory(sample)) return this.#expectFile(sample);
    let goesOn = true;
    tree.list(sample, 0, (_name, _start, _end, node) => {
      if (!tree.isDirectory(node)) goesOn = this.#expectFile(node);
      return goesOn;
    });
    return goesOn;
  }

  #expectFile(file: NodeId): boolean {
    const extent = this.#extent;
    if (!this.#tree.locate(file, extent) || extent.length === 0) return true;
    const { source, offset, length } = extent;
    return this.#objects.get(source)?.expect(offset, length) ?? true;
  }
}
