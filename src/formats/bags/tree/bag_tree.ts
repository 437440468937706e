import { FormatError, RecordfsError } from "../../../errors.ts";
import type { FileSource } from "../../../io/storage/file_source.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import { NamedTree } from "../../../tree/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import type { SampleNodes } from "../../../tree/tree.ts";
import type { Extent, Tree, TreeSeed } from "../../../tree/tree.ts";
import { type BagFile, closeBag, openBag } from "../bag/bag_file.ts";
import { IndexedBag } from "../bag/indexed_bag.ts";

/** What another thread rebuilds the tree from. */
interface SeedData {
  readonly path: string;
  readonly generation: BagFile["generation"];
  readonly length: number;
  readonly suffix: string;
  readonly mtime: number;
}

/**
 * The records of one bag in one directory, named by their numbers. Of the index, the pages that are
 * needed are read when they are.
 */
export class BagTree extends NamedTree {
  override readonly sources: readonly FileSource[];
  readonly #bag: BagFile;
  readonly #records: IndexedBag;
  readonly #files: NumberedFiles;

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
    const files = new NumberedFiles(length, suffix);
    super(files, mtime);
    this.sources = [bag.source];
    this.#bag = bag;
    this.#records = new IndexedBag(bag);
    this.#files = files;
  }

  samples(): SampleNodes {
    return this.#files.samples();
  }

  protected override locateRecord(record: number, into: Extent): void {
    this.#records.locate(record, into);
    into.source = 0;
  }

  override share(): TreeSeed {
    const { path, generation } = this.#bag;
    const { count: length, suffix } = this.#files;
    const { mtime } = this;
    const data: SeedData = { path, generation, length, suffix, mtime };
    return { module: import.meta.url, data };
  }

  override close(): void {
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
