import { RecordfsError } from "../../base/errors.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { NodeView } from "../node_view.ts";
import { SampleTree } from "../samples/sample_tree.ts";
import { ShardTable } from "../samples/shard_table.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  placeUnchecked,
  type SampleNodes,
} from "../tree.ts";
import { DecodedNodes } from "./decoded_nodes.ts";
import { DecodedRecords } from "./decoded_records.ts";
import type { LayOut } from "./record_layout.ts";
import type { RecordFile, RecordTable } from "./record_table.ts";

/** Limit of nodes of a decoded record, so that each has an id. */
const MOST_NODES = 1 << 20;

export interface RecordTreeOptions {
  /** Names of the files' directories; `undefined` for one file, whose records are in the root. */
  readonly shards: readonly string[] | undefined;
  /** Suffix of record names. */
  readonly suffix: string;
  /** Whether records are compared with their checksums. */
  readonly checkData: boolean;
  /** Largest id that a node may have; by default, all ids belong to the tree. */
  readonly lastNode: NodeId | undefined;
  /** Whether other threads can open the files, which decoded records require. */
  readonly isReached: boolean;
}

/** Data from which another thread rebuilds a tree. */
export interface RecordTreeSeed<F extends RecordFile>
  extends RecordTreeOptions {
  readonly files: readonly F[];
}

/**
 * Records as files, named by their numbers in their file; several files are directories. Decoded records are
 * directories. The damaged record at the end of a file is a file that cannot be read.
 *
 * Node ids: records, including damaged ones; then a range for the files of each sound record, if decoded.
 *
 * @typeParam F Files of records.
 */
export abstract class RecordTree<F extends RecordFile> extends SampleTree<F> {
  readonly sources: readonly ByteSource[];
  /** Without the nodes of decoded records, whose number is unknown. */
  readonly nodeCount: number;
  readonly lastNode?: NodeId;
  /** Sound records. */
  readonly #records: RecordTable<F>;
  readonly #options: RecordTreeOptions;
  readonly #decoded: DecodedNodes | undefined;
  readonly view?: (node: NodeId) => NodeView | undefined;
  readonly #extent = newExtent();

  /**
   * @param sources Empty in a thread that did not open them.
   * @param layOut Lays out decoded records; without it, records are files.
   */
  constructor(
    sources: readonly ByteSource[],
    records: RecordTable<F>,
    options: RecordTreeOptions,
    layOut?: LayOut,
  ) {
    const { shards, suffix, checkData, lastNode } = options;
    // With the damaged record at the end.
    const counts = new Map(
      records.shards.map((file, i) =>
        [file, records.countIn(i) + (file.cut === undefined ? 0 : 1)] as const
      ),
    );
    super(
      new ShardTable(records.shards, (file) => counts.get(file)!),
      shards,
      suffix,
    );
    this.sources = sources;
    this.nodeCount = this.firstSample - 1 + this.table.length;
    this.#records = records;
    this.#options = options;
    if (layOut === undefined) return;
    const before = this.nodeCount + 1;
    const room = (lastNode ?? Number.MAX_SAFE_INTEGER) - before;
    const each = Math.floor(room / Math.max(1, records.length));
    const nodes = Math.max(1, Math.min(MOST_NODES, each));
    const opened = sources.length > 0 ? sources : undefined;
    const layouts = new DecodedRecords(
      records,
      nodes,
      layOut,
      checkData,
      opened,
    );
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
    this.#records.locateIn(this.shard, this.number, into);
    // The checksum's implementation may not be loaded.
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

  close(): void {
    for (const source of this.sources) source.close();
    this.#decoded?.close();
  }

  /**
   * Returns what {@linkcode RecordTree.share} needs.
   *
   * @throws {RecordfsError} If records are decoded, and other threads cannot open the files.
   */
  protected seed(): RecordTreeSeed<F> {
    if (this.#decoded !== undefined && !this.#options.isReached) {
      throw new RecordfsError(
        "unsupported",
        "Cannot share records with other threads: they were opened from a storage of this " +
          "thread. Serve decoded records from the local disk or a server",
        { path: this.table.shards[0]?.path },
      );
    }
    return { ...this.#options, files: this.table.shards };
  }

  protected override sizeOf(node: NodeId): number {
    if (this.enterSample(node) && this.#isDamaged()) {
      return this.table.shards[this.shard]!.cut!.size;
    }
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }

  /** Returns the number of a sound record; -1 for other nodes. */
  #record(node: NodeId): number {
    return this.enterSample(node) && !this.#isDamaged()
      ? this.#records.firsts[this.shard]! + this.number
      : -1;
  }

  /** Whether the entered record is the damaged one at the end of its file. */
  #isDamaged(): boolean {
    return this.number === this.#records.countIn(this.shard);
  }
}
