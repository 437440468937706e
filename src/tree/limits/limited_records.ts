import { RecordfsError } from "../../base/errors.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import { runSync, type Steps } from "../../io/concurrency/steps.ts";
import { MappedFile } from "../../io/read/memory_map.ts";
import {
  type BatchRoom,
  type GrowingMemory,
  placesIn,
  RunRoom,
} from "../../io/read/read_memory.ts";
import { fill, fillSync, readPart } from "../../io/read/read_part.ts";
import { readSlices } from "../../io/read/read_slices.ts";
import type { RunLimits, Slice } from "../../io/read/slice_runs.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { FileSource } from "../../io/storage/file_source.ts";
import { MemorySource } from "../../io/storage/memory_source.ts";
import { type Extent, placeRange } from "../tree.ts";
import { checkLimits, ENTRY, readEntry } from "./limit_entries.ts";
import { PagedFile } from "../paged_file.ts";
import type { ShardTable } from "../samples/shard_table.ts";

export interface Spans {
  /** First record of each range. For an empty range, best the end of the previous range. */
  readonly first: Float64Array;
  readonly count: Float64Array;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Number of entries checked before a record's own: where it starts, and where the previous one starts. */
export const BEFORE = 2;

/**
 * Records that lie back to back from byte 0 of a file, and the table of their ends: little-endian 64-bit numbers at its
 * tail, or in another file. Pages of the table are read on demand, unless held in memory.
 */
export class LimitedRecords {
  /** Path of the file; for one in memory, its name in messages. */
  readonly path: string;
  readonly length: number;
  /** End of the records' area in the file, in bytes. */
  readonly dataEnd: number;
  /** Word for the file in messages. */
  readonly unit: string = "file";
  readonly source: ByteSource;
  /** File that holds the table of ends. */
  readonly index: ByteSource;
  /** Byte offset in `index` of the `length` record ends. */
  readonly indexStart: number;
  /** Byte offset of the last record located by {@linkcode LimitedRecords.locate}. */
  start = 0;
  /** Byte offset of its end. */
  end = 0;
  /** Source of the records' bytes: the file, or a copy in memory. */
  data: ByteSource;
  /** Ends of all records, as stored, if the index is held in memory. */
  #table: Uint8Array | undefined;
  readonly #entries: PagedFile;
  /** Buffer for the index entries checked for one record. */
  readonly #around = new Uint8Array((BEFORE + 1) * ENTRY);
  #records: PagedFile | undefined;
  #mapped: MappedFile | undefined;

  constructor(
    length: number,
    dataEnd: number,
    source: ByteSource,
    index: ByteSource = source,
    indexStart = 0,
  ) {
    this.path = source.name;
    this.length = length;
    this.dataEnd = dataEnd;
    this.source = source;
    this.index = index;
    this.indexStart = indexStart;
    this.data = source;
    this.#entries = new PagedFile(index, indexStart);
  }

  get bytes(): number {
    const { source, index } = this;
    return source.size + (index === source ? 0 : index.size);
  }

  close(): void {
    this.#mapped?.close();
    this.source.close();
    if (this.index !== this.source) this.index.close();
  }

  /** Loads the index (8 bytes per record) or the records into memory. Otherwise parts are read on demand. */
  *hold(cacheIndex: boolean, cacheData: boolean): Steps<void> {
    const { index, indexStart, length } = this;
    if (index instanceof MemorySource) {
      const end = indexStart + length * ENTRY;
      this.#table = index.bytes.subarray(indexStart, end);
    } else if (cacheIndex) this.#table = yield* this.readEntries(0, length);
    if (cacheData && !(this.source instanceof MemorySource)) {
      const { mtime } = this.source;
      this.data = new MemorySource(yield* readWhole(this), this.path, mtime);
    }
  }

  /** Loads the index into memory, unless it is there. */
  *holdTable(): Steps<void> {
    if (this.#table === undefined) yield* this.hold(true, false);
  }

  /** {@linkcode LimitedRecords.holdTable} without waiting, unless the table is too large to hold. */
  holdTableNow(): void {
    const isHeld = this.#table !== undefined || this.length > MOST_HELD;
    if (!isHeld) runSync(this.hold(true, false));
  }

  /** Counts the records before those that end past the file: fewer than all only if the index is a separate file. */
  *countWhole(): Steps<number> {
    const { length, dataEnd } = this;
    if (length === 0 || (yield* this.endByIndex(length - 1)) <= dataEnd) {
      return length;
    }
    let [low, high] = [0, length - 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((yield* this.endByIndex(middle)) <= dataEnd) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the end of a record according to the index, unchecked. */
  *endByIndex(record: number): Steps<number> {
    const table = this.#table;
    return table === undefined
      ? readEntry(yield* this.readEntries(record, 1), 0)
      : readEntry(table, record * ENTRY);
  }

  /** Sets `start` and `end` of a record by the index, unchecked. Throws `NotLoaded` like {@linkcode LimitedRecords.locate}. */
  locateByIndex(record: number): void {
    const before = Math.min(record, 1);
    const from = (record - before) * ENTRY;
    this.#entries.copy(this.#around, from, (before + 1) * ENTRY);
    this.start = before === 0 ? 0 : readEntry(this.#around, 0);
    this.end = readEntry(this.#around, before * ENTRY);
  }

  /** Reads index entries, unchecked. */
  readEntries(first: number, count: number): Steps<Bytes> {
    const offset = this.indexStart + first * ENTRY;
    return readPart(this.index, offset, count * ENTRY);
  }

  /**
   * Sets `start` and `end` of an existing record.
   *
   * @throws {FormatError} If it does not lie in the file.
   * @throws {NotLoaded} If the index must be read asynchronously.
   */
  locate(record: number): void {
    const table = this.#table;
    if (table !== undefined) return this.take(record, table, record * ENTRY);
    const before = Math.min(record, BEFORE);
    const from = (record - before) * ENTRY;
    this.#entries.copy(this.#around, from, (before + 1) * ENTRY);
    this.take(record, this.#around, before * ENTRY);
  }

  /** Writes the extent of a record to `into`, as a range of source number `source`. */
  place(record: number, source: number, into: Extent): void {
    this.locate(record);
    placeRange(source, this.start, this.end - this.start, into);
  }

  /** Copies a record, or its first bytes, to the start of `into`, through cached pages. Returns the number of bytes. */
  copy(record: number, into: Uint8Array): number {
    this.locate(record);
    const length = Math.min(this.end - this.start, into.length);
    this.#records ??= new PagedFile(this.data, 0);
    this.#records.copy(into, this.start, length);
    return length;
  }

  readSync(record: number, memory?: GrowingMemory): Bytes {
    this.locate(record);
    const { start, end } = this;
    const bytes = memory?.takeMore(end - start) ?? new Uint8Array(end - start);
    fillSync(this.data, bytes, start, false);
    return bytes;
  }

  /**
   * Returns a view of a record in a memory map of the file, or in its bytes in memory.
   *
   * @throws {FormatError} If it does not lie in the file, or that was truncated.
   * @throws {RecordfsError} As {@linkcode MappedFile} does, or if the file is neither a local file nor in unshared
   * memory.
   */
  view(record: number): Bytes {
    this.locate(record);
    return this.#whole().subarray(this.start, this.end);
  }

  #whole(): Bytes {
    const { source } = this;
    if (source instanceof FileSource) {
      return (this.#mapped ??= new MappedFile(source)).bytes();
    }
    const bytes = source instanceof MemorySource ? source.bytes : undefined;
    if (bytes?.buffer instanceof ArrayBuffer) return bytes as Bytes;
    throw new RecordfsError(
      "unsupported",
      bytes === undefined
        ? `Cannot view records of ${this.path}: it is neither a local file ` +
          "nor in memory. Use get"
        : "Cannot view records in a shared buffer: they could change. Use get, which copies",
    );
  }

  /** Reads consecutive records, which must exist, in one read. They are views of one buffer. */
  *readRun(
    first: number,
    count: number,
    memory?: GrowingMemory,
  ): Steps<Bytes[]> {
    if (count === 0) return [];
    const before = Math.min(first, BEFORE);
    const entries = this.#table?.subarray(
      (first - before) * ENTRY,
      (first + count) * ENTRY,
    ) ?? (yield* this.readEntries(first - before, before + count));
    const limits = this.#limits(entries, first, count, before);
    const start = limits[0]!;
    const length = limits[count]! - start;
    const bytes = memory?.takeMore(length) ?? new Uint8Array(length);
    yield* fill(this.data, bytes, start);
    if (count === 1) return [bytes];
    return Array.from(
      { length: count },
      (_, i) => bytes.subarray(limits[i]! - start, limits[i + 1]! - start),
    );
  }

  /** Reads existing records in any order, repeats allowed. Without `memory`, no two share bytes. */
  *readBatch(
    records: ArrayLike<number>,
    memory?: GrowingMemory,
  ): Steps<Bytes[]> {
    const slices = yield* this.slicesOf(records);
    return yield* readSlices([this.data], slices, undefined, memory);
  }

  /** Returns the slices of records in any order, repeats allowed; all must exist. */
  *slicesOf(records: ArrayLike<number>): Steps<Slice[]> {
    const table = this.#table;
    const parts = table ? undefined : yield* this.#readEntriesOf(records);
    const slices: Slice[] = [];
    for (let i = 0; i < records.length; i++) {
      const entries = table ?? parts![i]!;
      const at = table ? records[i]! * ENTRY : entries.length - ENTRY;
      this.take(records[i]!, entries, at);
      const length = this.end - this.start;
      slices.push({ source: 0, offset: this.start, length });
    }
    return slices;
  }

  /**
   * Returns, for each span, the start of each record and the end of the last. Any order, with repeats; all must exist.
   */
  *limitsOf({ first, count }: Spans): Steps<Float64Array[]> {
    const table = this.#table;
    const parts = table ? undefined : yield* this.#readEntriesOf(first, count);
    return Array.from(first, (record, span) => {
      const before = table ? record : Math.min(record, BEFORE);
      const entries = table ?? parts![span]!;
      return this.#limits(entries, record, count[span]!, before);
    });
  }

  /** @param before Number of entries before that of `first`. */
  #limits(
    entries: Uint8Array,
    first: number,
    count: number,
    before: number,
  ): Float64Array {
    const limits = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      this.take(first + i, entries, (before + i) * ENTRY);
      limits[i] = this.start;
      limits[i + 1] = this.end;
    }
    return limits;
  }

  /**
   * Sets `start` and `end` from the entry at byte `at` of `entries` and the two before it. Throws `bad-index` if they
   * are wrong.
   */
  take(record: number, entries: Uint8Array, at: number): void {
    const end = readEntry(entries, at);
    const start = record === 0 ? 0 : readEntry(entries, at - ENTRY);
    const before = record < BEFORE
      ? 0
      : readEntry(entries, at - BEFORE * ENTRY);
    checkLimits(this, record, start, end, before);
    this.start = start;
    this.end = end;
  }

  /** Reads the entries of ranges of records, by default of one each, with the preceding entries that are checked. */
  #readEntriesOf(
    first: ArrayLike<number>,
    count?: ArrayLike<number>,
  ): Steps<Uint8Array[]> {
    const slices = Array.from(first, (record, i): Slice => {
      const before = Math.min(record, BEFORE);
      const wanted = count?.[i] ?? 1;
      return {
        source: 0,
        offset: this.indexStart + (record - before) * ENTRY,
        length: wanted === 0 ? 0 : (before + wanted) * ENTRY,
      };
    });
    return readSlices([this.index], slices);
  }
}

/** Most records of a file whose index is held in memory for batches: 64 MiB. */
const MOST_HELD = 1 << 23;

/** Records that are only decoded stay where they are read together. */
const PACKED: RunLimits = {
  small: 1 << 16,
  gap: 1 << 12,
  longest: 1 << 20,
  overlaps: true,
};

/**
 * Reads samples that are records of several files, in any order.
 *
 * @param table The files, in the order of their sources.
 * @param memory Memory to read into; defaults to new memory.
 * @param mayShare Whether results may share bytes, because they are only decoded.
 */
export function* readInFiles(
  table: ShardTable<
    { readonly path: string; readonly records: LimitedRecords }
  >,
  samples: readonly number[],
  memory: BatchRoom | undefined,
  mayShare: boolean,
): Steps<Bytes[]> {
  const held = function* (file: number): Steps<LimitedRecords> {
    const { records } = table.shards[file]!;
    if (records.length <= MOST_HELD) yield* records.holdTable();
    return records;
  };
  if (samples.length === 1 && memory === undefined) {
    const records = yield* held(table.shardOf(samples[0]!));
    return yield* records.readRun(table.numberOf(samples[0]!), 1);
  }
  const byFile = Map.groupBy(
    samples.keys(),
    (i) => table.shardOf(samples[i]!),
  );
  const slices: Slice[] = [];
  yield* inParallel(
    Array.from(byFile, function* ([source, places]): Steps<void> {
      const records = yield* held(source);
      const numbers = places.map((i) => table.numberOf(samples[i]!));
      const own = yield* records.slicesOf(numbers);
      places.forEach((place, k) => slices[place] = { ...own[k]!, source });
    }),
  );
  const sources = table.shards.map(({ records }) => records.data);
  const into = mayShare
    ? new RunRoom(PACKED)
    : memory && placesIn(memory, slices);
  return yield* readSlices(sources, slices, undefined, into);
}

/** Reads all records, without consulting the index. */
function* readWhole({ source, dataEnd, path }: LimitedRecords): Steps<Bytes> {
  let bytes: Bytes;
  try {
    bytes = new Uint8Array(dataEnd);
  } catch (cause) { // RangeError: not enough memory
    throw new RecordfsError(
      "too-large",
      `Cannot keep ${path} in memory: it has ${dataEnd} bytes. Open it ` +
        "without cacheData, or remove it from cacheKeys",
      { path, actual: dataEnd, cause },
    );
  }
  yield* fill(source, bytes, 0);
  return bytes;
}
