import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { NameTable } from "../../../tree/name_table.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type {
  EntryVisitor,
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
export class TarTree implements Tree {
  readonly sources: readonly ByteSource[];
  readonly columns: TarColumns;
  readonly samples?: () => SampleNodes;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;
  readonly #names: NameTable;
  readonly #mtime: number;

  /** @param mtime When the tar was modified, in milliseconds since 1970. */
  constructor(
    sources: readonly ByteSource[],
    columns: TarColumns,
    mtime: number,
  ) {
    this.sources = sources;
    this.columns = columns;
    this.#mtime = mtime;
    this.#names = new NameTable(columns.names);
    // Whether there are such methods tells whether there are samples of several files, and links.
    if (isWebDataset(columns)) {
      this.samples = () => ({
        areDirectories: false,
        runs: sampleRuns(columns, this.#names),
      });
    }
    if (columns.links.length > 0) {
      this.isLink = (node) => this.#pathLength(this.#names.record(node)) >= 0;
      this.readLink = (node, into, at) => this.#readLink(node, into, at);
      this.target = (node) => this.#target(this.#names.record(node));
    }
  }

  get nodeCount(): number {
    return this.#names.length;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return this.#names.lookup(parent, name, start, end);
  }

  parent(node: NodeId): NodeId {
    return this.#names.parent(node);
  }

  isDirectory(node: NodeId): boolean {
    return this.#names.isDirectory(node);
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    return this.#names.nameOf(node, into);
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.#names.list(dir, cursor, visit);
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.isDirectory = this.#names.isDirectory(node);
    into.isLink = false;
    into.size = 0;
    const time = this.columns.times[node - 1];
    into.mtime = time === undefined || Number.isNaN(time) ? this.#mtime : time;
    if (into.isDirectory) return true;
    const record = this.#names.record(node);
    if (record < 0) return false;
    const path = this.#pathLength(record);
    into.isLink = path >= 0;
    into.size = into.isLink ? path : this.columns.sizes[record]!;
    return true;
  }

  /** Of a link, the content is that of the file that it leads to. */
  locate(node: NodeId, into: Extent): boolean {
    let record = this.#names.record(node);
    if (record < 0) return false;
    if (this.columns.sizes[record]! < 0) {
      record = this.#names.record(this.#target(record));
      if (record < 0) return false;
    }
    into.source = 0;
    into.offset = this.columns.offsets[record]!;
    into.length = this.columns.sizes[record]!;
    into.crc32 = -1;
    into.bytes = undefined;
    return true;
  }

  /** The record of a file or link, or -1. */
  recordOf(node: NodeId): number {
    return this.#names.record(node);
  }

  share(): TreeHandle {
    const data: Seed = { columns: this.columns, mtime: this.#mtime };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  /** Bytes of the path that a link's record has; -1 for others. */
  #pathLength(record: number): number {
    const size = this.columns.sizes[record];
    return size !== undefined && size < 0 ? -1 - size : -1;
  }

  #readLink(node: NodeId, into: Uint8Array, at: number): number {
    const record = this.#names.record(node);
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
  const { columns, mtime } = data as Seed;
  return new TarTree([], columns, mtime);
}
