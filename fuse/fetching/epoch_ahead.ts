import type { RemoteSource } from "../../src/io/remote/remote_source.ts";
import { newExtent, type NodeId, type Tree } from "../../src/tree/tree.ts";

/** Links ahead of a reader whose samples are fetched. */
const LINKS = 64;
/** Bytes that are fetched ahead at a time. */
const BYTES = 64 << 20;

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
  /** Bytes that are on their way. */
  #bytes = 0;

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
    while (next < link + LINKS && this.#bytes < BYTES) {
      if (tree.parent(next + 1) !== epoch) break;
      const sample = tree.target?.(++next) ?? 0;
      if (sample !== 0) this.#fetch(sample);
    }
    this.#until.set(epoch, next);
  }

  #fetch(sample: NodeId): void {
    const tree = this.#tree;
    if (!tree.isDirectory(sample)) return this.#fetchFile(sample);
    tree.list(sample, 0, (_name, _start, _end, node) => {
      if (!tree.isDirectory(node)) this.#fetchFile(node);
      return this.#bytes < BYTES;
    });
  }

  #fetchFile(file: NodeId): void {
    const extent = this.#extent;
    if (!this.#tree.locate(file, extent) || extent.length === 0) return;
    const { source, offset, length } = extent;
    const fetching = this.#objects.get(source)?.fetcher.fetch(offset, length);
    if (fetching === undefined) return;
    this.#bytes += length;
    const land = () => void (this.#bytes -= length);
    fetching.then(land, land); // who reads it is told what is wrong
  }
}
