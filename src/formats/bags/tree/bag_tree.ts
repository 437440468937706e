import { changedFile } from "../../../io/storage/changed_file.ts";
import { RecordfsError } from "../../../errors.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { storageInThread } from "../../../io/storage/thread_storage.ts";
import { NamedTree } from "../../../tree/names/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import type {
  Extent,
  SampleNodes,
  Tree,
  TreeHandle,
} from "../../../tree/tree.ts";
import type { Bag } from "../bag/bag.ts";
import { openBag } from "../bag/open_bag.ts";
import { requireReached } from "../../../io/storage/thread_storage.ts";

/** Handle that another thread opens the tree again by. */
interface SeedData {
  readonly path: string;
  readonly generation: Bag["generation"];
  readonly length: number;
  readonly suffix: string;
  readonly mtime: number;
}

/**
 * The records of one bag in one directory, named by their numbers. Of the index, the pages that are
 * needed are read when they are.
 */
export class BagTree extends NamedTree {
  override readonly sources: readonly ByteSource[];
  readonly #bag: Bag;
  readonly #storage: Storage;
  readonly #files: NumberedFiles;

  /**
   * @param bag Belongs to the tree from now on.
   * @param suffix What every name ends in, such as `.jpg`; may be empty.
   * @param length How many records are shown, of a bag that has grown.
   */
  constructor(
    bag: Bag,
    suffix: string,
    storage: Storage,
    length: number = bag.length,
    mtime: number = Math.max(bag.source.mtime, bag.index.mtime),
  ) {
    const files = new NumberedFiles(length, suffix);
    super(files, mtime);
    this.sources = [bag.source];
    this.#bag = bag;
    this.#storage = storage;
    this.#files = files;
  }

  samples(): SampleNodes {
    return this.#files.samples();
  }

  protected override locateRecord(record: number, into: Extent): void {
    this.#bag.place(record, into);
    into.source = 0;
  }

  override share(): TreeHandle {
    const { path, generation } = this.#bag;
    requireReached(path, this.#storage);
    const { count: length, suffix } = this.#files;
    const { mtime } = this;
    const data: SeedData = { path, generation, length, suffix, mtime };
    return { module: import.meta.url, data };
  }

  override close(): void {
    this.#bag.close();
  }
}

/** Rebuilds a shared tree in another thread, which reads the index by itself. */
export function reopenTree(data: unknown): Tree {
  const { path, generation, length, suffix, mtime } = data as SeedData;
  if (typeof path !== "string") {
    throw new RecordfsError("bad-handle", "This is no handle of a bag's tree");
  }
  const storage = storageInThread(path);
  const bag = runSync(openBag(path, { generation, storage }));
  const isSame = generation === 3
    ? bag.length >= length
    : bag.length === length;
  if (isSame) return new BagTree(bag, suffix, storage, length, mtime);
  bag.close();
  throw changedFile(path);
}
