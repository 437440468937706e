import { RecordfsError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { MappedFile } from "../../../io/read/memory_map.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import { fill, fillSync, readPart } from "../../../io/read/read_part.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { FileSource } from "../../../io/storage/file_source.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { type Extent, placeRange } from "../../../tree/tree.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { checkLimits, ENTRY, readEntry } from "./index_entries.ts";
import { PagedFile } from "./paged_file.ts";

/** Records of a bag that belong to each of several datapoints. */
export interface Spans {
  /** The first of each; for none, best where the span before ends. */
  readonly first: Float64Array;
  /** Their number. */
  readonly count: Float64Array;
}

/** A record. */
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Entries before a record's own end that are looked at: where it starts, and where the one before
 * does.
 */
export const BEFORE = 2;

/**
 * An opened bag. Records lie back to back from byte 0.
 *
 * Of the index, the pages that are needed are read when they are, unless it is held.
 */
export class Bag {
  /** Path of the `.bag`; what messages call one in memory. */
  readonly path: string;
  readonly generation: Generation;
  /** The number of records. */
  readonly length: number;
  /** Bytes of the `.bag` that records may lie in. */
  readonly dataEnd: number;
  /** The `.bag`. */
  readonly source: ByteSource;
  /** The file of the index: the `.bag` itself, but the `.idx` in generation 3. */
  readonly index: ByteSource;
  /**
   * Where in `index` the ends of the records start, `length` u64 each: the generations differ in no
   * more than that, since generation 1 has one more number before, which is 0.
   */
  readonly indexStart: number;
  /** Byte offset of the record that {@linkcode Bag.locate} was last asked for. */
  start = 0;
  /** Byte offset of its end. */
  end = 0;
  /** The records' bytes: the `.bag`, or a copy that is held. */
  data: ByteSource;
  /** The ends of all records, as in the file. */
  #table: Uint8Array | undefined;
  #lastEnd = 0;
  readonly #entries: PagedFile;
  /** The entries that are looked at for a record. */
  readonly #around = new Uint8Array((BEFORE + 1) * ENTRY);
  #records: PagedFile | undefined;
  #mapped: MappedFile | undefined;

  constructor(
    generation: Generation,
    length: number,
    dataEnd: number,
    source: ByteSource,
    index: ByteSource = source,
    indexStart = 0,
  ) {
    this.path = source.name;
    this.generation = generation;
    this.length = length;
    this.dataEnd = dataEnd;
    this.source = source;
    this.index = index;
    this.indexStart = indexStart;
    this.data = source;
    this.#entries = new PagedFile(index, indexStart);
  }

  /** Bytes of the files. */
  get bytes(): number {
    const { source, index } = this;
    return source.size + (index === source ? 0 : index.size);
  }

  /**
   * Bytes as the originals count them: the file, but in generation 3 the records and the index, without
   * what a killed writer left. To be asked of what {@linkcode Bag.hold} has seen.
   */
  get size(): number {
    return this.generation === 3
      ? this.#lastEnd + this.length * ENTRY
      : this.source.size;
  }

  close(): void {
    this.#mapped?.close();
    this.source.close();
    if (this.index !== this.source) this.index.close();
  }

  /**
   * Reads what is to be held in memory.
   *
   * @param cacheIndex Whether the index is: 8 bytes a record. Otherwise a part of it is read where it is needed.
   * @param cacheData Whether the records are.
   */
  *hold(cacheIndex: boolean, cacheData: boolean): Steps<void> {
    const { index, indexStart, length } = this;
    if (index instanceof MemorySource) {
      const end = indexStart + length * ENTRY;
      this.#table = index.bytes.subarray(indexStart, end);
    } else if (cacheIndex) this.#table = yield* this.readEntries(0, length);
    if (this.generation === 3 && length > 0) {
      const last = this.#table ?? (yield* this.readEntries(length - 1, 1));
      this.#lastEnd = readEntry(last, last.length - ENTRY);
    }
    if (cacheData && !(this.source instanceof MemorySource)) {
      const { mtime } = this.source;
      this.data = new MemorySource(yield* readWhole(this), this.path, mtime);
    }
  }

  /** Counts the records before those that end behind the bag: fewer than all where its index lies beside it. */
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

  /** Where a record ends as the index has it, right or wrong. */
  *endByIndex(record: number): Steps<number> {
    const table = this.#table;
    return table === undefined
      ? readEntry(yield* this.readEntries(record, 1), 0)
      : readEntry(table, record * ENTRY);
  }

  /**
   * Sets `start` and `end` of a record as the index has them, right or wrong.
   *
   * @throws {NotLoaded} If the index has to be waited for.
   */
  locateByIndex(record: number): void {
    const before = Math.min(record, 1);
    const from = (record - before) * ENTRY;
    this.#entries.copy(this.#around, from, (before + 1) * ENTRY);
    this.start = before === 0 ? 0 : readEntry(this.#around, 0);
    this.end = readEntry(this.#around, before * ENTRY);
  }

  /** Reads entries of the index, right or wrong. */
  readEntries(first: number, count: number): Steps<Bytes> {
    const offset = this.indexStart + first * ENTRY;
    return readPart(this.index, offset, count * ENTRY);
  }

  /**
   * Finds a record: sets `start` and `end`.
   *
   * @param record From 0 to `length - 1`.
   * @throws {FormatError} If it does not lie in the bag.
   * @throws {NotLoaded} If the index has to be waited for.
   */
  locate(record: number): void {
    const table = this.#table;
    if (table !== undefined) return this.take(record, table, record * ENTRY);
    const before = Math.min(record, BEFORE);
    const from = (record - before) * ENTRY;
    this.#entries.copy(this.#around, from, (before + 1) * ENTRY);
    this.take(record, this.#around, before * ENTRY);
  }

  /** Says where a record is, as {@linkcode Bag.locate}, in a source of that number. */
  place(record: number, source: number, into: Extent): void {
    this.locate(record);
    placeRange(source, this.start, this.end - this.start, into);
  }

  /**
   * Copies a record, or its first bytes, to the start of `into`, by way of pages that are kept.
   *
   * @returns How many bytes.
   */
  copy(record: number, into: Uint8Array): number {
    this.locate(record);
    const length = Math.min(this.end - this.start, into.length);
    this.#records ??= new PagedFile(this.data, 0);
    this.#records.copy(into, this.start, length);
    return length;
  }

  /** Reads a record without waiting. */
  readSync(record: number, memory?: GrowingMemory): Bytes {
    this.locate(record);
    const { start, end } = this;
    const bytes = memory?.takeMore(end - start) ?? new Uint8Array(end - start);
    fillSync(this.data, bytes, start, false);
    return bytes;
  }

  /**
   * A record in a memory map of the bag.
   *
   * @throws {FormatError} If it does not lie in the bag, or the bag was cut.
   * @throws {RecordfsError} As {@linkcode MappedFile} does.
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
        ? `${this.path} is neither a local file nor in memory, so there is nothing to view: use get`
        : "A view of a shared buffer would change while it is looked at: use get, which copies",
    );
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

  /**
   * Reads records in any order, repeats allowed.
   *
   * @param records All must exist.
   * @returns The records in the order of `records`; without `memory`, none shares bytes with another.
   */
  *readBatch(
    records: ArrayLike<number>,
    memory?: GrowingMemory,
  ): Steps<Bytes[]> {
    const slices = yield* this.slicesOf(records);
    return yield* readSlices([this.data], slices, undefined, memory);
  }

  /** Finds records in any order, repeats allowed; all must exist. */
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
   * Finds the records of spans in any order, repeats allowed; all must exist.
   *
   * @returns Of each span, where each of its records starts, and where the last one ends.
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

  /** @param before How many entries stand before that of `first`. */
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
   * Sets `start` and `end` to what the entry of `record`, at byte `at` of `entries`, and the two before it
   * say.
   *
   * @throws {FormatError} If it does not lie in the bag.
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

  /** Reads the entries of runs of records, by default of one each, and those before that are looked at. */
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

/** The records of a bag, whatever the index says. */
function* readWhole({ source, dataEnd, path }: Bag): Steps<Bytes> {
  let bytes: Bytes;
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
