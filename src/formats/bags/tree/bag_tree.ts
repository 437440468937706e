import { type FormatError, RecordfsError } from "../../../base/errors.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  requireReached,
  storageInThread,
} from "../../../io/storage/thread_storage.ts";
import {
  type ArchiveNotes,
  unreadableNotes,
} from "../../../tree/archive/archive_notes.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { NamedTree } from "../../../tree/names/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import type {
  Extent,
  SampleNodes,
  Tree,
  TreeHandle,
} from "../../../tree/tree.ts";
import type { Bag } from "../bag/bag.ts";
import { pastEnd } from "../../../tree/limits/limit_entries.ts";
import { type BagSeed, reopenBag, seedOf } from "../read/bag_records.ts";

/** Data that other threads need to reopen the tree. */
interface SeedData extends BagSeed {
  readonly suffix: string;
  readonly mtime: number;
  readonly whole: number;
}

/**
 * The records of one bag as files named by number. Index pages are read on demand. Records past the end of a truncated
 * bag cannot be read.
 */
export class BagTree extends NamedTree {
  override readonly sources: readonly ByteSource[];
  readonly #bag: Bag;
  readonly #storage: Storage;
  readonly #files: NumberedFiles;
  readonly #whole: number;

  /**
   * @param suffix Suffix of every name, such as `.jpg`; may be empty.
   * @param whole Number of leading records that end within the bag.
   * @param length Number of records to show, if the bag has grown.
   */
  constructor(
    bag: Bag,
    suffix: string,
    storage: Storage,
    whole: number,
    length: number = bag.length,
    mtime: number = Math.max(bag.source.mtime, bag.index.mtime),
  ) {
    const files = new NumberedFiles(length, suffix);
    super(files, mtime);
    this.sources = [bag.source];
    this.#bag = bag;
    this.#storage = storage;
    this.#files = files;
    this.#whole = whole;
  }

  /** Notes on records past the end of a truncated bag. */
  get notes(): ArchiveNotes[] {
    const { count } = this.#files;
    if (this.#whole >= count) return [];
    const first = this.#whole;
    const cut = function* () {
      for (let record = first; record < count; record++) yield record;
    };
    return [
      unreadableNotes(
        this.#bag.path,
        cut(),
        (record) => this.#cutError(record),
      ),
    ];
  }

  samples(): SampleNodes {
    return this.#files.samples();
  }

  protected override sizeOf(record: number): number {
    if (record < this.#whole) return super.sizeOf(record);
    const bag = this.#bag;
    bag.locateByIndex(record);
    return Math.max(bag.end - bag.start, 0);
  }

  #cutError(record: number): FormatError {
    const bag = this.#bag;
    const { path, dataEnd } = bag;
    bag.locateByIndex(record);
    const { start, end } = bag;
    return memberError(
      "bad-index",
      path,
      this.pathTo(this.#files.nodeOf(record)),
      pastEnd(Math.max(start, end), bag),
      { sample: record, expected: dataEnd, actual: end },
    );
  }

  protected override locateRecord(record: number, into: Extent): void {
    if (record >= this.#whole) throw this.#cutError(record);
    this.#bag.place(record, 0, into);
  }

  override share(): TreeHandle {
    requireReached(this.#bag.path, this.#storage);
    const { count: length, suffix } = this.#files;
    const { mtime } = this;
    const whole = this.#whole;
    const data: SeedData = {
      ...seedOf(this.#bag),
      length,
      suffix,
      mtime,
      whole,
    };
    return { module: import.meta.url, data };
  }

  override close(): void {
    this.#bag.close();
  }
}

/** Reopens a shared tree in another thread, which reads the index itself. */
export function reopenTree(data: unknown): Tree {
  const seed = data as SeedData;
  const { path, length, suffix, mtime, whole } = seed;
  if (typeof path !== "string") {
    throw new RecordfsError("bad-handle", "Not a handle of a bag's tree");
  }
  const storage = storageInThread(path);
  const bag = runSync(reopenBag(seed, storage));
  return new BagTree(bag, suffix, storage, whole, length, mtime);
}
