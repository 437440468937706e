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
import {
  type LocationOptions,
  storedAt,
} from "../../../io/storage/stored_location.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { Bag } from "../bag/bag.ts";
import { bagNotes } from "../bag/damaged_bag.ts";
import { openBag } from "../bag/open_bag.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import { BagRecords } from "./bag_records.ts";
import { clippedCount } from "./selection.ts";

/** Options of opening a bag. */
export interface BagOptions extends LocationOptions {
  /** Opens the bag as this generation instead of detecting it. */
  readonly generation?: Generation | undefined;
  /**
   * Whether to hold the index in memory, 8 bytes per record. Defaults to `true`. Otherwise pages are read on demand;
   * each thread caches up to 4 MiB of them for all bags.
   */
  readonly cacheIndex?: boolean | undefined;
  /** Whether to also hold the records in memory, as of when the bag was opened. Defaults to `false`. */
  readonly cacheData?: boolean | undefined;
  /** Index of a generation-3 bag, if it is not the `.idx` next to it: a path, or its bytes. Implies generation 3. */
  readonly index?:
    | string
    | URL
    | Uint8Array
    | ArrayBuffer
    | SharedArrayBuffer
    | undefined;
  /** Called with warnings about odd or unreadable content. By default, unreadable content goes to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

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
 * @example Share a bag in memory with other threads
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
   * @param bag The `.bag`, with its `.idx` next to it in generation 3; or its bytes, in shared memory or not. They are
   * not copied, and must not change while the bag is open. Bytes of generation 3 need the option `index`.
   * @throws {FormatError} If it is not a bag, or was truncated.
   * @throws {RangeError} If an index is given for generation 1 or 2.
   */
  static open(
    bag: string | URL | Uint8Array | ArrayBuffer | SharedArrayBuffer,
    options: BagOptions & WaitOptions = {},
  ): Promise<BagReader> {
    return runAsync(BagReader.#open(bag, options), options.signal);
  }

  /** Synchronous {@linkcode BagReader.open}. */
  static openSync(
    bag: string | URL | Uint8Array | ArrayBuffer | SharedArrayBuffer,
    options: BagOptions = {},
  ): BagReader {
    return runSync(BagReader.#open(bag, options));
  }

  /** Path of the `.bag`; `a bag in memory` if it was opened from bytes. */
  get path(): string {
    return this.#bag.path;
  }

  /** Form of the bag's index. */
  get generation(): Generation {
    return this.#bag.generation;
  }

  /** Size of records and index in bytes. */
  get size(): number {
    return this.#bag.size;
  }

  /**
   * Reads a record.
   *
   * @param index From 0 to `length - 1`.
   * @param options `memory` is read into; defaults to new memory.
   * @returns The bytes; without `memory`, in a buffer of their own, which the caller owns.
   * @throws {IndexError} If there is no such record.
   * @throws {FormatError} If the index is damaged there, or the bag was truncated.
   */
  get(
    index: number,
    options: { readonly memory?: GrowingMemory | undefined } & WaitOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return runAsync(this.#get(index, options), options.signal);
  }

  /** Synchronous {@linkcode BagReader.get}. */
  getSync(
    index: number,
    options?: { readonly memory?: GrowingMemory | undefined },
  ): Uint8Array<ArrayBuffer> {
    this.#require(index);
    const memory = options?.memory;
    memory?.take(0);
    return this.#bag.readSync(index, memory);
  }

  /**
   * Reads consecutive records in one read.
   *
   * @param start First record, from 0.
   * @param stop Record after the last. Records that do not exist are skipped, as in Python.
   * @returns The records, as views of one buffer.
   * @throws {RangeError} If the range is not of integers, or descends.
   * @throws {FormatError} If the index is damaged there, or the bag was truncated.
   */
  range(
    start: number,
    stop: number,
    options: { readonly memory?: GrowingMemory | undefined } & WaitOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    return runAsync(this.#range(start, stop, options), options.signal);
  }

  /** Synchronous {@linkcode BagReader.range}. */
  rangeSync(
    start: number,
    stop: number,
    options: { readonly memory?: GrowingMemory | undefined } = {},
  ): Uint8Array<ArrayBuffer>[] {
    return runSync(this.#range(start, stop, options));
  }

  /**
   * Returns a view of a record in a memory map of the bag, without copying. Linux only; needs `--allow-ffi`. For a bag
   * in memory, returns a view of the given bytes.
   *
   * **Reading a view after its file was truncated kills the process**, as does a failing disk: use it only for files
   * that nobody changes. Writing to a view never changes the file, but shows in all views of the same bytes. The view
   * stays valid after `close()`, as long as it is referenced. Its `buffer` is the whole file: it must not be
   * transferred to another thread, which would empty all views, and posting the view copies the whole file. Post a
   * copy, made with `slice()`.
   *
   * @param index From 0 to `length - 1`.
   * @throws {IndexError} If there is no such record.
   * @throws {FormatError} If the index is damaged there, or the bag was truncated.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped, or the bytes are in a shared buffer; use
   * `get` there.
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
    { memory }: { readonly memory?: GrowingMemory | undefined },
  ): Steps<Uint8Array<ArrayBuffer>> {
    this.#require(index);
    memory?.take(0);
    const [record] = yield* this.#bag.readRun(index, 1, memory);
    return record!;
  }

  *#range(
    start: number,
    stop: number,
    { memory }: { readonly memory?: GrowingMemory | undefined },
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

function partOf(
  part: BagLocation,
  name: string,
  options: LocationOptions,
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
    "A bag, or its index, must be a path, a file: URL, or the bytes: a Uint8Array, " +
      "ArrayBuffer or SharedArrayBuffer",
  );
}
