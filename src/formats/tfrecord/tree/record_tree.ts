import { RecordfsError } from "../../../base/errors.ts";
import { crc32cLoaded } from "../../../io/sums/crc32c.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { SampleTree } from "../../../tree/samples/sample_tree.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  placeUnchecked,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { locateRecord } from "../read/record_columns.ts";
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
 * Node ids: those of records, damaged ones among them; then, a share for each sound record, its features.
 */
export class RecordTree extends SampleTree<RecordFile> {
  readonly sources: readonly ByteSource[];
  /** Nodes of features are not counted: nobody knows how many there are. */
  readonly nodeCount: number;
  readonly lastNode?: NodeId;
  /** The records that are sound. */
  readonly #records: RecordTable;
  readonly #options: RecordTreeOptions;
  readonly #decoded: DecodedNodes | undefined;
  readonly view?: (node: NodeId) => NodeView | undefined;
  readonly #extent = newExtent();

  /** @param sources None in a thread that did not open them. */
  constructor(
    sources: readonly ByteSource[],
    records: RecordTable,
    options: RecordTreeOptions,
  ) {
    const { shards, suffix, decoded, lastNode } = options;
    super(new ShardTable(records.shards, listed), shards, suffix);
    this.sources = sources;
    this.nodeCount = this.firstSample - 1 + this.table.length;
    this.#records = records;
    this.#options = options;
    if (!decoded) return;
    const before = this.nodeCount + 1;
    const room = (lastNode ?? Number.MAX_SAFE_INTEGER) - before;
    const each = Math.floor(room / Math.max(1, records.length));
    const nodes = Math.max(1, Math.min(MOST_NODES, each));
    const opened = sources.length > 0 ? sources : undefined;
    const layouts = new DecodedRecords(records, nodes, options, opened);
    const decodedNodes = new DecodedNodes(layouts, records, before);
    this.#decoded = decodedNodes;
    this.view = (node) =>
      this.#record(node) < 0 ? decodedNodes.view(node) : { kind: "datapoint" };
    this.lastNode = before + nodes * records.length - 1;
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (this.#decoded === undefined || parent < this.firstSample) {
      return super.lookup(parent, name, start, end);
    }
    const record = this.#record(parent);
    return this.#decoded.lookup(record, parent, name, start, end);
  }

  override parent(node: NodeId): NodeId {
    if (this.#decoded === undefined || node <= this.nodeCount) {
      return super.parent(node);
    }
    return this.#decoded.parent(node, (record) => {
      const file = this.#records.shardOf(record);
      const number = record - this.#records.firsts[file]!;
      return this.firstSample + this.table.firsts[file]! + number;
    });
  }

  override isDirectory(node: NodeId): boolean {
    if (this.#decoded === undefined || node < this.firstSample) {
      return super.isDirectory(node);
    }
    return this.#record(node) >= 0 || this.#decoded.isDirectory(node);
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (this.#decoded === undefined || dir < this.firstSample) {
      return super.list(dir, cursor, visit);
    }
    this.#decoded.list(this.#record(dir), dir, cursor, visit);
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterSample(node)) {
      return this.#decoded?.locate(node, into) ?? false;
    }
    if (this.#isDamaged()) {
      throw this.#records.cutError(this.shard, this.#options.suffix);
    }
    if (this.#decoded !== undefined) return false;
    const { columns } = this.table.shards[this.shard]!;
    locateRecord(columns, this.number, this.shard, into);
    // What computes it may not be loaded.
    if (!this.#options.checkData) placeUnchecked(into);
    return true;
  }

  sampleOf(node: NodeId): number {
    return this.#record(node) < 0 ? -1 : this.number;
  }

  override samples(): SampleNodes {
    const { firsts, shards } = this.#records;
    const runs = shards.map((_, file) => ({
      first: this.firstSample + this.table.firsts[file]!,
      stride: 1,
      count: firsts[file + 1]! - firsts[file]!,
    }));
    return { areDirectories: this.#decoded !== undefined, runs };
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

  protected override sizeOf(node: NodeId): number {
    if (this.enterSample(node) && this.#isDamaged()) {
      return this.table.shards[this.shard]!.cut!.size;
    }
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }

  /** The number of a sound record; -1 where a node is none. */
  #record(node: NodeId): number {
    return this.enterSample(node) && !this.#isDamaged()
      ? this.#records.firsts[this.shard]! + this.number
      : -1;
  }

  /** Whether the record that was entered is the damaged one that its file ends in. */
  #isDamaged(): boolean {
    const { columns } = this.table.shards[this.shard]!;
    return this.number === columns.sums.length;
  }
}

/** Number of a file's records, with the damaged one that it ends in. */
function listed({ columns, cut }: RecordFile): number {
  return columns.sums.length + (cut === undefined ? 0 : 1);
}

/** Rebuilds a shared tree in another thread, over the same tables. Of what is decoded it opens the files again. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { files, ...options } = data as Seed;
  if (options.checkData) await runAsync(crc32cLoaded());
  return new RecordTree([], new RecordTable(files), options);
}
