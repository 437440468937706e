import { isIndex } from "../../../tree/sample_indices.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { decodeName, encodeName } from "../../../base/names.ts";
import { crc32cLoaded } from "../../../io/sums/crc32c.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { type RecordFile, RecordTable } from "../read/record_table.ts";
import { DecodedRecords } from "./decoded_records.ts";
import { DecodedNodes } from "./decoded_nodes.ts";
import { MOST_NODES } from "./record_layout.ts";

/** How records are shown. */
export interface RecordTreeOptions {
  /** Names of the files' directories; `undefined` for one file, whose records are in the root. */
  readonly shards: readonly string[] | undefined;
  /** Ending of the names of records. */
  readonly suffix: string;
  /** Whether records are examples, shown as their features. */
  readonly decoded: boolean;
  /** Whether numbers are shown in one form alone, for who looks at them. */
  readonly asRows: boolean;
  /** Whether records are compared with their checksums. */
  readonly checkData: boolean;
  /** The largest id that a node may have, unless the tree has all of them to itself. */
  readonly lastNode: NodeId | undefined;
  /** Whether other threads can open the files, as they have to for what is decoded. */
  readonly isReached: boolean;
}

/** What another thread rebuilds a tree from. */
interface Seed extends RecordTreeOptions {
  readonly files: readonly RecordFile[];
}

/**
 * Records as files, named by their numbers in their file; several files are directories. Of examples that are shown
 * decoded, each record is a directory of its features. The damaged record that a file ends in is a file that cannot be
 * read.
 *
 * Node ids: the root, the files' directories, all records, damaged ones; then, a share for each record, its features.
 */
export class RecordTree implements Tree {
  readonly sources: readonly ByteSource[];
  readonly lastNode?: NodeId;
  readonly table: RecordTable;
  readonly #options: RecordTreeOptions;
  readonly #directories: readonly Uint8Array[];
  readonly #byName: ReadonlyMap<string, number>;
  readonly #names: readonly NumberedNames[];
  /** Node of the first record. */
  readonly #first: NodeId;
  /** The files that end in a damaged record. */
  readonly #cutFiles: readonly number[];
  readonly #mtime: number;
  readonly #decoded: DecodedNodes | undefined;
  readonly view?: (node: NodeId) => NodeView | undefined;
  readonly #extent = newExtent();
  readonly #name = new Uint8Array(300);

  /** @param sources None in a thread that did not open them. */
  constructor(
    sources: readonly ByteSource[],
    table: RecordTable,
    options: RecordTreeOptions,
  ) {
    this.sources = sources;
    this.table = table;
    this.#options = options;
    const { shards = [], suffix, decoded, lastNode } = options;
    this.#directories = shards.map((name) => encodeName(name));
    this.#byName = new Map(shards.map((name, i) => [name, i]));
    this.#cutFiles = table.cutFiles;
    this.#names = table.shards.map((_, file) =>
      numberedNames(this.#count(file), suffix)
    );
    this.#first = ROOT + 1 + shards.length;
    this.#mtime = table.shards.reduce(
      (last, { mtime }) => Math.max(last, mtime),
      0,
    );
    if (!decoded) return;
    const before = this.nodeCount + 1;
    const room = (lastNode ?? Number.MAX_SAFE_INTEGER) - before;
    const each = Math.floor(room / Math.max(1, table.length));
    const nodes = Math.max(1, Math.min(MOST_NODES, each));
    const opened = sources.length > 0 ? sources : undefined;
    const records = new DecodedRecords(table, nodes, options, opened);
    const nodesOfRecords = new DecodedNodes(records, table, before);
    this.#decoded = nodesOfRecords;
    this.view = (node) =>
      this.#record(node) < 0
        ? nodesOfRecords.view(node)
        : { kind: "datapoint" };
    this.lastNode = before + nodes * table.length - 1;
  }

  /** Nodes of features are not counted: nobody knows how many there are. */
  get nodeCount(): number {
    return this.#first - 1 + this.table.length + this.#cutFiles.length;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const file = this.#fileOfDirectory(parent);
    if (file >= 0) {
      const number = this.#names[file]!.parse(name, start, end);
      return isIndex(number, this.#count(file)) ? this.#node(file, number) : 0;
    }
    if (parent === ROOT) {
      const shard = this.#byName.get(decodeName(name, start, end));
      return shard === undefined ? 0 : ROOT + 1 + shard;
    }
    const record = this.#record(parent);
    return this.#decoded?.lookup(record, parent, name, start, end) ?? 0;
  }

  parent(node: NodeId): NodeId {
    if (node < this.#first) return ROOT;
    const file = this.#fileOf(node);
    if (file < 0) {
      return this.#decoded?.parent(node, (record) => this.#first + record) ?? 0;
    }
    return this.#options.shards === undefined ? ROOT : ROOT + 1 + file;
  }

  isDirectory(node: NodeId): boolean {
    if (node >= ROOT && node < this.#first) return Number.isInteger(node);
    if (this.#record(node) >= 0) return this.#decoded !== undefined;
    return this.#decoded?.isDirectory(node) ?? false;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const file = this.#fileOfDirectory(dir);
    if (file >= 0) return this.#listRecords(file, cursor, visit);
    if (dir === ROOT) return this.#listShards(cursor, visit);
    this.#decoded?.list(this.#record(dir), dir, cursor, visit);
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.size = 0;
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    if (into.isDirectory) return true;
    const cut = this.#cutFile(node);
    if (cut >= 0) {
      into.size = this.table.shards[cut]!.cut!.size;
      return true;
    }
    if (!this.locate(node, this.#extent)) return false;
    into.size = this.#extent.length;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const record = this.#record(node);
    if (record < 0) {
      const cut = this.#cutFile(node);
      if (cut >= 0) throw this.table.cutError(cut, this.#options.suffix);
      return this.#decoded?.locate(node, into) ?? false;
    }
    if (this.#decoded !== undefined) return false;
    this.table.locate(record, into);
    if (!this.#options.checkData) into.crc32 = -1; // what takes it may not be loaded
    return true;
  }

  sampleOf(node: NodeId): number {
    const record = this.#record(node);
    return record < 0 ? -1 : this.table.numberOf(record);
  }

  samples(): SampleNodes {
    const { firsts, shards } = this.table;
    const runs = shards.flatMap((_, i) => {
      const count = firsts[i + 1]! - firsts[i]!;
      const first = this.#first + firsts[i]!;
      return count === 0 ? [] : [{ first, stride: 1, count }];
    });
    return { areDirectories: this.#decoded !== undefined, runs };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const file = this.#fileOf(node);
    if (file >= 0) {
      const record = this.#record(node);
      const number = record < 0
        ? this.#count(file) - 1
        : this.table.numberOf(record);
      return this.#names[file]!.write(number, into);
    }
    const name = this.#directories[node - ROOT - 1];
    if (name === undefined) return 0;
    into.set(name);
    return name.length;
  }

  share(): TreeHandle {
    if (this.#decoded !== undefined && !this.#options.isReached) {
      throw new RecordfsError(
        "unsupported",
        "Records were opened from a storage of this thread, which others cannot open: only what lies on the local " +
          "disk or on a server is served decoded by threads",
        { path: this.table.shards[0]?.path },
      );
    }
    const seed: Seed = { ...this.#options, files: this.table.shards };
    return { module: import.meta.url, data: seed };
  }

  close(): void {
    for (const source of this.sources) source.close();
    this.#decoded?.close();
  }

  /** The file whose records are in a directory, or -1. */
  #fileOfDirectory(node: NodeId): number {
    if (this.#options.shards === undefined) return node === ROOT ? 0 : -1;
    const file = node - ROOT - 1;
    return isIndex(file, this.#first - ROOT - 1) ? file : -1;
  }

  #record(node: NodeId): number {
    const record = node - this.#first;
    return isIndex(record, this.table.length) ? record : -1;
  }

  /** The file whose damaged record a node is, or -1. */
  #cutFile(node: NodeId): number {
    return this.#cutFiles[node - this.#first - this.table.length] ?? -1;
  }

  /** The file that a record's node is in, sound or damaged, or -1. */
  #fileOf(node: NodeId): number {
    const record = this.#record(node);
    return record < 0 ? this.#cutFile(node) : this.table.shardOf(record);
  }

  /** Number of a file's records, with a damaged one. */
  #count(file: number): number {
    const { columns, cut } = this.table.shards[file]!;
    return columns.sums.length + (cut === undefined ? 0 : 1);
  }

  #node(file: number, number: number): NodeId {
    const { columns } = this.table.shards[file]!;
    return number < columns.sums.length
      ? this.#first + this.table.firsts[file]! + number
      : this.#first + this.table.length + this.#cutFiles.indexOf(file);
  }

  #listRecords(file: number, cursor: number, visit: EntryVisitor): void {
    const count = this.#count(file);
    const names = this.#names[file]!;
    for (let number = cursor; number < count; number++) {
      const end = names.write(number, this.#name);
      if (!visit(this.#name, 0, end, this.#node(file, number), number + 1)) {
        return;
      }
    }
  }

  #listShards(cursor: number, visit: EntryVisitor): void {
    for (let at = cursor; at < this.#directories.length; at++) {
      const name = this.#directories[at]!;
      if (!visit(name, 0, name.length, ROOT + 1 + at, at + 1)) return;
    }
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. Of what is decoded it opens the files again. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { files, ...options } = data as Seed;
  if (options.checkData) await runAsync(crc32cLoaded());
  return new RecordTree([], new RecordTable(files), options);
}
