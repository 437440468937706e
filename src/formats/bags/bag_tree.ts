import { FormatError, RecordfsError } from "../../errors.ts";
import type { FileSource } from "../../io/file_source.ts";
import { runSync } from "../../io/steps.ts";
import type { NumberedNames } from "../../tree/numbered_names.ts";
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
import { numberedNames } from "./tree_shard.ts";

/** What another thread rebuilds the tree from. */
interface SeedData {
  readonly path: string;
  readonly generation: BagFile["generation"];
  readonly length: number;
  readonly suffix: string;
  readonly mtime: number;
}

/** Nodes before that of record 0. */
const FIRST = ROOT + 1;

/**
 * The records of one bag in one directory, named by their numbers: `000042`, with `.jpg` where the suffix
 * says so. Record i has node id i + 2. Of the index, the pages that are needed are read when they are.
 */
export class BagTree implements Tree {
  readonly sources: readonly FileSource[];
  readonly #bag: BagFile;
  readonly #records: IndexedBag;
  readonly #length: number;
  readonly #mtime: number;
  readonly #suffix: string;
  readonly #names: NumberedNames;
  readonly #name: Uint8Array;
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
    this.#length = length;
    this.#mtime = mtime;
    this.#suffix = suffix;
    this.#names = numberedNames(length, suffix);
    this.#name = new Uint8Array(this.#names.maxLength);
  }

  get nodeCount(): number {
    return this.#length + 1;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent !== ROOT) return 0;
    const record = this.#names.parse(name, start, end);
    return record >= 0 && record < this.#length ? record + FIRST : 0;
  }

  parent(): NodeId {
    return ROOT;
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir !== ROOT) return;
    for (let record = cursor; record < this.#length; record++) {
      const end = this.#names.write(record, this.#name);
      if (!visit(this.#name, 0, end, record + FIRST, record + 1)) return;
    }
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
    const record = node - FIRST;
    if (!Number.isInteger(record) || record < 0 || record >= this.#length) {
      return false;
    }
    this.#records.locate(record, into);
    into.source = 0;
    return true;
  }

  share(): TreeSeed {
    const { path, generation } = this.#bag;
    const data: SeedData = {
      path,
      generation,
      length: this.#length,
      suffix: this.#suffix,
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
