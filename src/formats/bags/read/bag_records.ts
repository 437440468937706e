import { RecordfsError } from "../../../errors.ts";
import { MappedFile } from "../../../io/read/mapped_file.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import type { ReadMemory } from "../../../io/read/read_memory.ts";
import { fill, fillSync, readPart } from "../../../io/read/read_part.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  type BagBytes,
  type BagFile,
  type BagFileOptions,
  closeBag,
  openBagParts,
} from "../bag/bag_file.ts";
import { newExtent } from "../../../tree/tree.ts";
import { checkLimits, ENTRY, readEntry } from "../bag/index_entries.ts";
import { IndexedBag } from "../bag/indexed_bag.ts";
import type { Spans } from "./spans.ts";

/** What of a bag is held in memory. */
export interface RecordsOptions {
  /** Whether the index is: 8 bytes a record. Otherwise a part of it is read where it is needed. */
  readonly cacheIndex: boolean;
  /** Whether the records are. */
  readonly cacheData?: boolean;
}

/**
 * Entries before a record's own end that are looked at: where it starts, and where the one before
 * does.
 */
const BEFORE = 2;

/** The records of an opened bag. */
export class BagRecords {
  readonly bag: BagFile<BagBytes>;
  /** Byte offset of the record that {@linkcode BagRecords.locateSync} was last asked for. */
  start = 0;
  /** Byte offset of its end. */
  end = 0;
  /** The ends of all records, as in the file. */
  #table: Uint8Array | undefined;
  #source: BagBytes;
  #lastEnd = 0;
  /** Finds records where the index is in its file. */
  readonly #indexed: IndexedBag<BagBytes>;
  readonly #place = newExtent();
  /** None for a bag in memory. */
  readonly #mapped: MappedFile | undefined;

  private constructor(bag: BagFile<BagBytes>) {
    this.bag = bag;
    this.#source = bag.source;
    this.#indexed = new IndexedBag(bag);
    this.#mapped = bag.source instanceof MemorySource
      ? undefined
      : new MappedFile(bag.source);
  }

  /**
   * Opens a bag.
   *
   * @param path Path of the `.bag`, or its bytes.
   * @param index Where the index of generation 3 is, if not beside it.
   * @throws {FormatError} If it is none.
   */
  static *open(
    path: string | MemorySource,
    index: string | MemorySource | undefined,
    options: RecordsOptions & BagFileOptions,
  ): Steps<BagRecords> {
    const bag = yield* openBagParts(path, index, options);
    try {
      return yield* BagRecords.of(bag, options);
    } catch (error) {
      closeBag(bag);
      throw error;
    }
  }

  /** The records of a bag that has been opened; it belongs to them unless this throws. */
  static *of(
    bag: BagFile<BagBytes>,
    options: RecordsOptions,
  ): Steps<BagRecords> {
    const records = new BagRecords(bag);
    yield* records.#load(options);
    return records;
  }

  /** How many records there are. */
  get length(): number {
    return this.bag.length;
  }

  /** What the records are read from. */
  get source(): BagBytes {
    return this.#source;
  }

  /**
   * Bytes of the bag as the originals count them: its file, but in generation 3 the records and the
   * index, without what a killed writer left.
   */
  get size(): number {
    const { bag } = this;
    return bag.generation === 3
      ? this.#lastEnd + bag.length * ENTRY
      : bag.source.size;
  }

  close(): void {
    this.#mapped?.close();
    closeBag(this.bag);
  }

  *#load({ cacheIndex, cacheData }: RecordsOptions): Steps<void> {
    const { bag } = this;
    const { index, indexStart } = bag;
    if (index instanceof MemorySource) {
      const end = indexStart + bag.length * ENTRY;
      this.#table = index.bytes.subarray(indexStart, end);
    } else if (cacheIndex) {
      this.#table = yield* this.#readEntries(0, bag.length);
    }
    if (bag.generation === 3 && bag.length > 0) {
      const last = this.#table ??
        (yield* this.#readEntries(bag.length - 1, 1));
      this.#lastEnd = readEntry(last, last.length - ENTRY);
    }
    if (cacheData && !(bag.source instanceof MemorySource)) {
      this.#source = new MemorySource(
        yield* readWhole(bag),
        bag.path,
        bag.source.mtime,
      );
    }
  }

  #readEntries(first: number, count: number): Steps<Uint8Array<ArrayBuffer>> {
    const { index, indexStart } = this.bag;
    return readPart(index, indexStart + first * ENTRY, count * ENTRY);
  }

  /**
   * Finds a record without waiting: sets `start` and `end`.
   *
   * @param record From 0 to `length - 1`.
   * @throws {FormatError} If it does not lie in the bag.
   */
  locateSync(record: number): void {
    const table = this.#table;
    if (table !== undefined) return this.#take(record, table, record * ENTRY);
    const place = this.#place;
    this.#indexed.locate(record, place);
    this.start = place.offset;
    this.end = place.offset + place.length;
  }

  /** Sets `start` and `end` to what the entry of `record`, at byte `at`, and those before it say. */
  #take(record: number, entries: Uint8Array, at: number): void {
    const end = readEntry(entries, at);
    const start = record === 0 ? 0 : readEntry(entries, at - ENTRY);
    const before = record < BEFORE
      ? 0
      : readEntry(entries, at - BEFORE * ENTRY);
    checkLimits(this.bag, record, start, end, before);
    this.start = start;
    this.end = end;
  }

  /**
   * Reads a record without waiting.
   *
   * @param memory What to take memory from.
   */
  readSync(record: number, memory?: ReadMemory): Uint8Array<ArrayBuffer> {
    this.locateSync(record);
    const { start, end } = this;
    const bytes = memory?.takeMore(end - start) ?? new Uint8Array(end - start);
    fillSync(this.#source, bytes, start, false);
    return bytes;
  }

  /**
   * A record in a memory map of the bag.
   *
   * @throws {FormatError} If it does not lie in the bag, or the bag was cut.
   * @throws {RecordfsError} As {@linkcode MappedFile} does.
   */
  view(record: number): Uint8Array<ArrayBuffer> {
    this.locateSync(record);
    const { start, end } = this;
    return (this.#mapped?.bytes() ?? this.#given()).subarray(start, end);
  }

  /** The bytes of a bag in memory. */
  #given(): Uint8Array<ArrayBuffer> {
    const { bytes } = this.bag.source as MemorySource;
    if (bytes.buffer instanceof ArrayBuffer) {
      return bytes as Uint8Array<ArrayBuffer>;
    }
    throw new RecordfsError(
      "unsupported",
      "A view of a shared buffer would change while it is looked at: use get, which copies",
    );
  }

  /** {@linkcode BagRecords.readSync}, waiting where it must. */
  *read(record: number, memory?: ReadMemory): Steps<Uint8Array<ArrayBuffer>> {
    const [bytes] = yield* this.readRun(record, 1, memory);
    return bytes!;
  }

  /**
   * Reads consecutive records in one go.
   *
   * @param first The first of them.
   * @param count How many; all must exist.
   * @returns Views of one buffer.
   */
  *readRun(
    first: number,
    count: number,
    memory?: ReadMemory,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    if (count === 0) return [];
    const before = Math.min(first, BEFORE);
    const entries = this.#table?.subarray(
      (first - before) * ENTRY,
      (first + count) * ENTRY,
    ) ?? (yield* this.#readEntries(first - before, before + count));
    const starts = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      this.#take(first + i, entries, (before + i) * ENTRY);
      starts[i] = this.start;
    }
    starts[count] = this.end;
    const start = starts[0]!;
    const length = starts[count]! - start;
    const bytes = memory?.takeMore(length) ?? new Uint8Array(length);
    yield* fill(this.#source, bytes, start);
    if (count === 1) return [bytes];
    return Array.from(
      { length: count },
      (_, i) => bytes.subarray(starts[i]! - start, starts[i + 1]! - start),
    );
  }

  /**
   * Reads records in any order, repeats allowed.
   *
   * @param records All must exist.
   * @returns The records in the order of `records`; without `memory`, none shares bytes with another.
   */
  *readBatch(
    records: readonly number[],
    memory?: ReadMemory,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    const table = this.#table;
    const parts = table
      ? undefined
      : yield* this.#readEntriesOf(records, records.map(() => 1));
    const slices = records.map((record, i): Slice => {
      const entries = table ?? parts![i]!;
      const at = table ? record * ENTRY : entries.length - ENTRY;
      this.#take(record, entries, at);
      return { source: 0, offset: this.start, length: this.end - this.start };
    });
    const sources = [this.#source];
    return yield* readSlices(sources, slices, undefined, memory);
  }

  /**
   * Finds the records of spans in any order, repeats allowed; all must exist.
   *
   * @returns Of each span, where each of its records starts, and where the last one ends.
   */
  *limitsOf(spans: Spans): Steps<Float64Array[]> {
    const table = this.#table;
    const { first, count } = spans;
    const parts = table ? undefined : yield* this.#readEntriesOf(first, count);
    return Array.from(first, (record, span) => {
      const entries = table ?? parts![span]!;
      const base = table ? 0 : record - Math.min(record, BEFORE);
      const limits = new Float64Array(count[span]! + 1);
      for (let i = 0; i < count[span]!; i++) {
        this.#take(record + i, entries, (record + i - base) * ENTRY);
        limits[i] = this.start;
        limits[i + 1] = this.end;
      }
      return limits;
    });
  }

  /** Reads the entries of runs of records, and those before them that are looked at. */
  #readEntriesOf(
    first: ArrayLike<number>,
    count: ArrayLike<number>,
  ): Steps<Uint8Array[]> {
    const { index, indexStart } = this.bag;
    const slices = Array.from(first, (record, i): Slice => {
      const before = Math.min(record, BEFORE);
      return {
        source: 0,
        offset: indexStart + (record - before) * ENTRY,
        length: count[i]! === 0 ? 0 : (before + count[i]!) * ENTRY,
      };
    });
    return readSlices([index], slices);
  }
}

/** The records of a bag, whatever the index says. */
function* readWhole(
  { source, dataEnd, path }: BagFile<BagBytes>,
): Steps<Uint8Array<ArrayBuffer>> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(dataEnd);
  } catch (cause) { // RangeError: there is no such memory
    throw new RecordfsError(
      "too-large",
      `Cannot keep ${path} in memory: it has ${dataEnd} bytes; do without cacheData, or leave ` +
        "it out of cacheKeys",
      { path, actual: dataEnd, cause },
    );
  }
  yield* fill(source, bytes, 0);
  return bytes;
}
