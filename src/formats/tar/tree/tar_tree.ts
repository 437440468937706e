import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { NameTable } from "../../../tree/names/name_table.ts";
import { NamedTree } from "../../../tree/names/named_tree.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type {
  Extent,
  NodeId,
  NodeStat,
  SampleNodes,
  Tree,
  TreeHandle,
} from "../../../tree/tree.ts";
import { isWebDataset, type TarColumns } from "../read/tar_columns.ts";
import { sampleRuns } from "./sample_nodes.ts";

/** What another thread rebuilds a tree from. */
interface Seed {
  readonly columns: TarColumns;
  readonly mtime: number;
}

/** A tar as the files that it would be extracted to; their contents are parts of it. */
export class TarTree extends NamedTree<NameTable> {
  readonly sources: readonly ByteSource[];
  readonly columns: TarColumns;
  /** How many members are not shown, which who opened it was told; 0 in other threads. */
  readonly leftOut: number;
  readonly samples?: () => SampleNodes;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;

  /** @param mtime When the tar was modified, in milliseconds since 1970. */
  constructor(
    sources: readonly ByteSource[],
    columns: TarColumns,
    mtime: number,
    leftOut = 0,
  ) {
    super(new NameTable(columns.names), mtime, columns.times);
    this.leftOut = leftOut;
    this.sources = sources;
    this.columns = columns;
    // Whether there are such methods tells whether there are samples of several files, and links.
    if (isWebDataset(columns)) {
      this.samples = () => ({
        areDirectories: false,
        runs: sampleRuns(columns, this.names),
      });
    }
    if (columns.links.length > 0) {
      this.isLink = (node) => this.#pathLength(this.names.record(node)) >= 0;
      this.readLink = (node, into, at) => this.#readLink(node, into, at);
      this.target = (node) => this.#target(this.names.record(node));
    }
  }

  /** A tree that another thread has shared; it has no sources. */
  static reopened(data: unknown): TarTree {
    const { columns, mtime } = data as Seed;
    return new TarTree([], columns, mtime);
  }

  override stat(node: NodeId, into: NodeStat): boolean {
    into.isLink = this.#pathLength(this.names.record(node)) >= 0;
    return super.stat(node, into);
  }

  /** Of a link, the content is that of the file that it leads to. */
  override locate(node: NodeId, into: Extent): boolean {
    const record = this.names.record(node);
    return super.locate(
      this.#pathLength(record) < 0 ? node : this.#target(record),
      into,
    );
  }

  /** The record of a file or link, or -1. */
  recordOf(node: NodeId): number {
    return this.names.record(node);
  }

  share(): TreeHandle {
    const data: Seed = { columns: this.columns, mtime: this.mtime };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  protected override sizeOf(record: number): number {
    const path = this.#pathLength(record);
    return path >= 0 ? path : this.columns.sizes[record]!;
  }

  protected locateRecord(record: number, into: Extent): void {
    into.source = 0;
    into.offset = this.columns.offsets[record]!;
    into.length = this.columns.sizes[record]!;
    into.crc32 = -1;
    into.bytes = undefined;
  }

  /** Bytes of the path that a link's record has; -1 for others. */
  #pathLength(record: number): number {
    const size = this.columns.sizes[record];
    return size !== undefined && size < 0 ? -1 - size : -1;
  }

  #readLink(node: NodeId, into: Uint8Array, at: number): number {
    const record = this.names.record(node);
    const length = this.#pathLength(record);
    const { names } = this.columns.names;
    const start = this.columns.offsets[record]!;
    for (let i = 0; i < length; i++) into[at + i] = names[start + i]!;
    return length;
  }

  #target(record: number): NodeId {
    const { links, targets } = this.columns;
    const link = lastUpTo(links, record);
    return links[link] === record ? targets[link]! : 0;
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. It has no sources there. */
export function reopenTree(data: unknown): Tree {
  return TarTree.reopened(data);
}
