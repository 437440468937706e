import { FormatError, RecordfsError } from "../../errors.ts";
import type { FileSource } from "../../io/file_source.ts";
import { runSync } from "../../io/steps.ts";
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
import { type BagFile, closeBag, openBag } from "./bag_file.ts";
import { IndexedBag } from "./indexed_bag.ts";

/** What another thread rebuilds the tree from. */
interface SeedData {
  readonly path: string;
  readonly generation: BagFile["generation"];
  readonly length: number;
  readonly suffix: string;
  readonly mtime: number;
}

/**
 * The records of one bag in one directory, named by their numbers: `000042`, with `.jpg` where the suffix
 * says so. Of the index, the pages that are needed are read when they are.
 */
export class BagTree implements Tree {
  readonly sources: readonly FileSource[];
  readonly #bag: BagFile;
  readonly #records: IndexedBag;
  readonly #mtime: number;
  readonly #files: NumberedFiles;
  readonly #extent = newExtent();

  /**
   * @param bag Belongs to the tree from now on.
   * @param suffix What every name ends in, such as `.jpg`; may be empty.
   * @param length How many records are shown, of a bag that has grown.
   */
  constructor(
    bag: BagFile,
    suffix: string,
    length: number = bag.length,
    mtime: number = Math.max(bag.source.mtime, bag.index.mtime),
  ) {
    this.sources = [bag.source];
    this.#bag = bag;
    this.#records = new IndexedBag(bag);
    this.#mtime = mtime;
    this.#files = new NumberedFiles(length, suffix);
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

  stat(node: NodeId, into: NodeStat): boolean {
    into.mtime = this.#mtime;
    into.isDirectory = node === ROOT;
    into.size = 0;
    if (into.isDirectory) return true;
    if (!this.locate(node, this.#extent)) return false;
    into.size = this.#extent.length;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const record = this.#files.numberOf(node);
    if (record < 0) return false;
    this.#records.locate(record, into);
    into.source = 0;
    return true;
  }

  share(): TreeSeed {
    const { path, generation } = this.#bag;
    const data: SeedData = {
      path,
      generation,
      length: this.#files.length,
      suffix: this.#files.suffix,
      mtime: this.#mtime,
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    closeBag(this.#bag);
  }
}

/** Rebuilds a shared tree in another thread, which reads the index by itself. */
export function reviveTree(data: unknown): Tree {
  const { path, generation, length, suffix, mtime } = data as SeedData;
  if (typeof path !== "string") {
    throw new RecordfsError("bad-seed", "This is no seed of a bag's tree");
  }
  const bag = runSync(openBag(path, { generation }));
  const isSame = generation === 3
    ? bag.length >= length
    : bag.length === length;
  if (isSame) return new BagTree(bag, suffix, length, mtime);
  closeBag(bag);
  throw new FormatError(
    "changed",
    `${path} was replaced or changed after it was opened; open it again`,
    { path, expected: length, actual: bag.length },
  );
}
