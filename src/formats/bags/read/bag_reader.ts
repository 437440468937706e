import { bytesOf } from "../../../base/bytes_of.ts";
import { IndexError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { type PlaceOptions, storedAt } from "../../../io/storage/place.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { Bag } from "../bag/bag.ts";
import { bagNotes } from "../bag/damaged_bag.ts";
import { openBag } from "../bag/open_bag.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import { BagRecords } from "./bag_records.ts";
import type { ReadOptions, ReadSyncOptions } from "./record_memory.ts";
import { clippedCount } from "./selection.ts";

/** Options of opening a bag. */
export interface BagOptions extends PlaceOptions {
  /** Takes the bag for one of this generation, instead of looking at its content. */
  readonly generation?: Generation | undefined;
  /**
   * Whether to hold the index in memory, 8 bytes a record; `true` by default. Otherwise pages of it are
   * read where they are needed, of which a thread keeps up to 4 MiB for all bags.
   */
  readonly cacheIndex?: boolean | undefined;
  /**
   * Whether to hold the records in memory as well; not by default. They are those that the bag had when
   * it was opened, whatever becomes of its file.
   */
  readonly cacheData?: boolean | undefined;
  /**
   * The index of generation 3, where it is not the `.idx` beside the bag: a path, or its bytes. One
   * that is given makes the bag one of generation 3.
   */
  readonly index?:
    | string
    | URL
    | Uint8Array
    | ArrayBuffer
    | SharedArrayBuffer
    | undefined;
  /** Told of what is odd but readable, and of what cannot be read; the latter is `console.warn`'s unless given. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Where a bag or its index is, or its bytes. */
type BagLocation = NonNullable<BagOptions["index"]>;

/**
 * Reads the records of a `.bag` of any generation (Python's `BagReader`).
 *
 * @example Read records
 * ```ts
 * import { BagReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * using bag = await BagReader.open("test/golden/bags/types/data/text.bag");
 * assert.equal(bag.generation, 1);
 * const [first, second] = await bag.range(0, 2);
 * assert.deepEqual(await bag.read([1, 0]), [second, first]);
 * ```
 *
 * @example Share a bag in memory with other threads, which open it alike
 * ```ts
 * import { BagReader } from "@recordfs/recordfs/bags";
 *
 * const bytes = await Deno.readFile("test/golden/bags/types/data/text.bag");
 * const shared = new SharedArrayBuffer(bytes.length);
 * new Uint8Array(shared).set(bytes);
 * using bag = BagReader.openSync(shared);
 * console.log(bag.getSync(0).length); // of a copy
 * ```
 */
export class BagReader extends SamplesReader<Uint8Array<ArrayBuffer>> {
  readonly #records: BagRecords;
  readonly #bag: Bag;

  private constructor(records: BagRecords) {
    super(records);
    this.#records = records;
    this.#bag = records.bag;
  }

  static *#open(
    location: BagLocation,
    { index, cacheIndex = true, cacheData = false, ...options }: BagOptions,
  ): Steps<BagReader> {
    const { part, storage } = partOf(location, "a bag in memory", options);
    const given = index === undefined
      ? undefined
      : partOf(index, "an index in memory", { ...options, storage });
    const bag = yield* openBag(part, {
      ...options,
      storage,
      index: given?.part,
    });
    try {
      yield* bag.hold(cacheIndex, cacheData);
      warnOfAll(noteLines(yield* bagNotes([bag])), options.onWarning);
      return new BagReader(new BagRecords(bag, storage ?? LOCAL_DISK));
    } catch (error) {
      bag.close();
      throw error;
    }
  }

  /**
   * Opens a bag.
   *
   * @param bag The `.bag`; its `.idx` lies beside it where it is of generation 3. Or its bytes, in memory
   * of one's own or shared with other threads: they are not copied, and must not change while the bag is
   * open. Those of generation 3 take the option `index`.
   * @throws {FormatError} If it is no bag, or was cut.
   * @throws {RangeError} If an index is given for another generation than the third.
   */
  static open(
    bag: string | URL | Uint8Array | ArrayBuffer | SharedArrayBuffer,
    options: BagOptions & WaitOptions = {},
  ): Promise<BagReader> {
    return runAsync(BagReader.#open(bag, options), options.signal);
  }

  /** {@linkcode BagReader.open} without waiting. */
  static openSync(
    bag: string | URL | Uint8Array | ArrayBuffer | SharedArrayBuffer,
    options: BagOptions = {},
  ): BagReader {
    return runSync(BagReader.#open(bag, options));
  }

  /** Path of the `.bag`; `a bag in memory` for one of which the bytes were given. */
  get path(): string {
    return this.#bag.path;
  }

  /** The form of the bag's index. */
  get generation(): Generation {
    return this.#bag.generation;
  }

  /** Bytes of records and index. */
  get size(): number {
    return this.#bag.size;
  }

  /**
   * Reads a record.
   *
   * @param index From 0 to `length - 1`.
   * @returns The bytes; without `memory`, the caller's, in a buffer of their own.
   * @throws {IndexError} If there is no such record.
   * @throws {FormatError} If the index is damaged there, or the bag was cut.
   */
  get(
    index: number,
    options: ReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return runAsync(this.#get(index, options), options.signal);
  }

  /** {@linkcode BagReader.get} without waiting. */
  getSync(
    index: number,
    options?: ReadSyncOptions,
  ): Uint8Array<ArrayBuffer> {
    this.#require(index);
    const memory = options?.memory;
    memory?.take(0);
    return this.#bag.readSync(index, memory);
  }

  /**
   * Reads consecutive records in one go.
   *
   * @param start The first, from 0 on.
   * @param stop The one behind the last; those that do not exist are left out, as in Python.
   * @returns The records, as views of one buffer.
   * @throws {RangeError} If they are no whole numbers, or descend.
   * @throws {FormatError} If the index is damaged there, or the bag was cut.
   */
  range(
    start: number,
    stop: number,
    options: ReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    return runAsync(this.#range(start, stop, options), options.signal);
  }

  /** {@linkcode BagReader.range} without waiting. */
  rangeSync(
    start: number,
    stop: number,
    options: ReadSyncOptions = {},
  ): Uint8Array<ArrayBuffer>[] {
    return runSync(this.#range(start, stop, options));
  }

  /**
   * A view of a record in a memory map of the bag: nothing is copied. Linux only, and it needs
   * `--allow-ffi`. Of a bag in memory, it is a view of the bytes that were given.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails: so
   * for files that nobody changes. Writing to a view never changes the file; it changes what all views
   * of those bytes show. The view stays valid after `close()`, for as long as it is referred to. Its
   * `buffer` is the whole file: it must not be transferred to another thread, which would empty all
   * views; post a copy, made with `slice()`: posting the view copies the whole file.
   *
   * @param index From 0 to `length - 1`.
   * @throws {IndexError} If there is no such record.
   * @throws {FormatError} If the index is damaged there, or the bag was cut.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped, and of bytes in a
   * shared buffer: `get` works there.
   *
   * @example Look at a record in place
   * ```ts
   * import { BagReader } from "@recordfs/recordfs/bags";
   * import assert from "node:assert/strict";
   *
   * using bag = await BagReader.open("test/golden/bags/types/data/text.bag");
   * assert.deepEqual(bag.unsafeView(3), await bag.get(3));
   * ```
   */
  unsafeView(index: number): Uint8Array<ArrayBuffer> {
    this.#require(index);
    return this.#bag.view(index);
  }

  *#get(
    index: number,
    { memory }: ReadSyncOptions,
  ): Steps<Uint8Array<ArrayBuffer>> {
    this.#require(index);
    memory?.take(0);
    const [record] = yield* this.#bag.readRun(index, 1, memory);
    return record!;
  }

  *#range(
    start: number,
    stop: number,
    { memory }: ReadSyncOptions,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    this.#records.requireOpen();
    const count = clippedCount(start, stop, this.length);
    memory?.take(0);
    return yield* this.#bag.readRun(start, count, memory);
  }

  #require(index: number): void {
    this.#records.requireOpen();
    const { length } = this;
    if (isIndex(index, length)) return;
    throw new IndexError(index, length, this.path, 0, "record");
  }
}

/** @throws {TypeError} If it is neither a location nor bytes. */
function partOf(
  part: BagLocation,
  name: string,
  options: PlaceOptions,
): {
  readonly part: string | MemorySource;
  readonly storage: Storage | undefined;
} {
  const { storage } = options;
  if (typeof part === "string" || part instanceof URL) {
    const place = storedAt(part, options);
    return { part: place.path, storage: place.storage };
  }
  const bytes = bytesOf(part);
  if (bytes !== undefined) {
    return { part: new MemorySource(bytes, name), storage };
  }
  throw new TypeError(
    "A bag, or its index, is a path, a file: URL, or the bytes: a Uint8Array, ArrayBuffer or " +
      "SharedArrayBuffer",
  );
}
