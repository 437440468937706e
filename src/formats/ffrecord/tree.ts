import { RecordfsError } from "../../errors.ts";
import type { ByteSource } from "../../io/byte_source.ts";
import { NameTable, type NameTableColumns } from "../../tree/name_table.ts";
import { NumberedFiles } from "../../tree/numbered_files.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  ROOT,
  type Tree,
  type TreeSeed,
} from "../../tree/tree.ts";
import { SampleIndex, type SamplePart } from "./sample_index.ts";

/** What both trees rest on. */
interface Samples {
  readonly sources: readonly ByteSource[];
  readonly index: SampleIndex;
  /** Last modification of the newest file, in milliseconds since 1970. */
  readonly mtime: number;
}

/** What another thread rebuilds a tree from: `names` for packed folders, `suffix` for samples. */
interface SeedData {
  readonly parts: readonly SamplePart[];
  readonly mtime: number;
  readonly names?: NameTableColumns;
  readonly suffix?: string;
}

abstract class RecordTree implements Tree {
  readonly sources: readonly ByteSource[];
  abstract readonly nodeCount: number;
  protected readonly index: SampleIndex;
  readonly #mtime: number;
  readonly #extent = newExtent();

  constructor({ sources, index, mtime }: Samples) {
    this.sources = sources;
    this.index = index;
    this.#mtime = mtime;
  }

  abstract lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId;
  abstract parent(node: NodeId): NodeId;
  abstract isDirectory(node: NodeId): boolean;
  abstract list(dir: NodeId, cursor: number, visit: EntryVisitor): void;

  /** The sample that is a file's content, or -1. */
  protected abstract sample(node: NodeId): number;

  protected abstract seed(): Partial<SeedData>;

  stat(node: NodeId, into: NodeStat): boolean {
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    into.size = 0;
    if (into.isDirectory) return true;
    const sample = this.sample(node);
    if (sample < 0) return false;
    this.index.locate(sample, this.#extent);
    into.size = this.#extent.length;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const sample = this.sample(node);
    if (sample < 0) return false;
    this.index.waitUntilSound(sample); // no wrong bytes, however early they are asked for
    this.index.locate(sample, into);
    return true;
  }

  sampleOf(node: NodeId): number {
    const sample = this.sample(node);
    return sample < 0
      ? -1
      : sample - this.index.startOf(this.index.partOf(sample));
  }

  share(): TreeSeed {
    const data: SeedData = {
      parts: this.index.parts,
      mtime: this.#mtime,
      ...this.seed(),
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }
}

/** A packed folder, or a directory of them: stored names, each file one sample. */
export class PackedTree extends RecordTree {
  readonly #names: NameTable;

  constructor(samples: Samples, names: NameTable) {
    super(samples);
    this.#names = names;
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

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.#names.list(dir, cursor, visit);
  }

  protected sample(node: NodeId): number {
    return this.#names.record(node);
  }

  protected seed(): Partial<SeedData> {
    return { names: this.#names.columns };
  }
}

/**
 * Plain samples in one directory, named by their index: `000042`, with `.jpg` where the suffix says
 * so.
 */
export class SampleTree extends RecordTree {
  readonly #files: NumberedFiles;

  /** @param suffix What every name ends in, such as `.jpg`; may be empty. */
  constructor(samples: Samples, suffix: string) {
    super(samples);
    this.#files = new NumberedFiles(samples.index.length, suffix);
  }

  get nodeCount(): number {
    return this.#files.nodeCount;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return this.#files.lookup(parent, name, start, end);
  }

  parent(): NodeId {
    return ROOT;
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    this.#files.list(dir, cursor, visit);
  }

  protected sample(node: NodeId): number {
    return this.#files.numberOf(node);
  }

  protected seed(): Partial<SeedData> {
    return { suffix: this.#files.suffix };
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. It has no sources there. */
export function reviveTree(data: unknown): Tree {
  const { parts, mtime, names, suffix } = data as SeedData;
  const samples = { sources: [], index: new SampleIndex(parts), mtime };
  if (names !== undefined) return new PackedTree(samples, new NameTable(names));
  if (suffix !== undefined) return new SampleTree(samples, suffix);
  throw new RecordfsError("bad-seed", "This is no seed of an FFRecord tree");
}
