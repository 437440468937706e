import { WriteError } from "../../../base/errors.ts";
import {
  forEachPiece,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import { type Generation, mayBeEmpty } from "../dataset/dataset_names.ts";
import { ENTRY, writeEntry } from "../../../tree/limits/limit_entries.ts";
import { Buffer } from "node:buffer";
import { GatheredBytes } from "../../../io/write/gathered_bytes.ts";

/** Most records of a bag: the original packages number them with 32 bits. */
const MOST_RECORDS = 2 ** 32 - 1;

export interface BagParts<Form extends Generation> {
  readonly generation: Form;
  readonly path: string;
  readonly file: WritableFile;
  /** File that gets the index: the `.idx`, or what becomes the end of the `.bag`. */
  readonly indexFile: WritableFile;
  /** Bytes already in both files. */
  readonly there?: { readonly records: number; readonly index: number };
}

/** Records and index of a bag being written. Records appended since {@linkcode BagOutput.keep} can be taken back. */
export abstract class BagOutput<Form extends Generation = Generation> {
  readonly generation: Form;
  readonly path: string;
  protected readonly file: WritableFile;
  protected readonly indexFile: WritableFile;
  protected readonly records: AppendedBytes;
  protected readonly index: AppendedBytes;
  /** End of the last record that the index file names. */
  protected indexed = 0;
  readonly #entry = new Uint8Array(ENTRY);
  #length = 0;
  #kept = 0;
  #keptEnd = 0;

  constructor({ generation, path, file, indexFile, there }: BagParts<Form>) {
    this.generation = generation;
    this.path = path;
    this.file = file;
    this.indexFile = indexFile;
    const mismatch = () => this.#mismatch();
    this.records = new AppendedBytes(file, there?.records ?? 0, mismatch);
    this.index = new AppendedBytes(indexFile, there?.index ?? 0, mismatch);
  }

  get length(): number {
    return this.#length;
  }

  /** Size of records and index in bytes, as the original packages count it. */
  get size(): number {
    return this.records.end + ENTRY * this.#length;
  }

  /** Continues after a record in the file. Must be called before anything is appended. */
  protected startAt(length: number, end: number): void {
    this.records.startAt(end);
    this.index.startAt(ENTRY * length);
    this.indexed = end;
    this.#length = length;
    this.keep();
  }

  /** Appends a record if that is possible synchronously, within the buffers; otherwise returns `false`. */
  appendAtOnce(record: Uint8Array): boolean {
    const { records, index } = this;
    if (!records.hasRoom(record.byteLength) || !index.hasRoom(ENTRY)) {
      return false;
    }
    if (this.#length >= MOST_RECORDS) return false;
    if (record.length === 0 && !mayBeEmpty(this.generation)) return false;
    const start = records.end;
    records.add(record);
    index.add(this.#entryOf(start));
    this.#length++;
    return true;
  }

  *append(data: SampleData): Steps<void> {
    const bytes = sampleBytes(data);
    if (bytes !== undefined && this.appendAtOnce(bytes)) return;
    if (this.#length >= MOST_RECORDS) throw this.#tooMany();
    const { records, index } = this;
    const start = records.end;
    if (bytes !== undefined) yield* records.append(bytes);
    else yield* forEachPiece(data, (piece) => records.append(piece));
    if (records.end === start && !mayBeEmpty(this.generation)) {
      throw this.#empty();
    }
    yield* index.append(this.#entryOf(start));
    this.#length++;
  }

  /** Commits what was appended so far. */
  keep(): void {
    this.#kept = this.#length;
    this.#keptEnd = this.records.end;
  }

  /** Takes back what was appended since the last `keep`. */
  takeBack(): void {
    this.records.takeBack(this.#keptEnd);
    this.index.takeBack(ENTRY * this.#kept);
    this.#length = this.#kept;
  }

  /** Writes the buffered records; with `sync`, waits until they are on disk. */
  *flushRecords(sync: boolean): Steps<void> {
    yield* this.records.flush();
    if (sync) yield* this.file.sync();
  }

  /** Writes all buffered bytes: the records before the index entries that name them. */
  *flush(sync: boolean): Steps<void> {
    yield* this.flushRecords(sync);
    yield* this.flushIndex(sync);
  }

  /** Whether both must be flushed before the next record is appended. */
  abstract readonly needsFlush: boolean;

  /** Writes the index entries of written records. Must be called after `flushRecords`. */
  *flushIndex(sync: boolean): Steps<void> {
    yield* this.index.flush();
    this.indexed = this.records.end;
    if (sync) yield* this.indexFile.sync();
  }

  /** Completes the bag on disk. Can be retried if it fails. */
  abstract finish(): Steps<void>;

  close(): void {
    this.file.close();
    this.indexFile.close();
  }

  /** Returns the index entry of the last record, which starts at `start`. */
  #entryOf(start: number): Uint8Array {
    writeEntry(this.#entry, this.generation === 1 ? start : this.records.end);
    return this.#entry;
  }

  #empty(): WriteError {
    return new WriteError(
      "empty-record",
      `Cannot write record ${this.#length} of ${this.path}: it is empty, and bags of generation ` +
        `${this.generation} have no empty records. Write generation 3 or 1, or at least one byte`,
      { path: this.path, sample: this.#length },
    );
  }

  #tooMany(): WriteError {
    return new WriteError(
      "too-many-records",
      `Cannot write another record to ${this.path}: a bag has at most ` +
        `${MOST_RECORDS}. Use several bags, or shards`,
      { path: this.path, expected: MOST_RECORDS },
    );
  }

  #mismatch(): WriteError {
    const { path } = this;
    return new WriteError(
      "mismatch",
      `Cannot continue ${path}: record ${this.#length} differs from the ` +
        "one that is there already, written ahead by a process that was killed. Append " +
        "the same records as that did, or cut it off: truncate -s " +
        `'<${ENTRY * this.#kept}' '${this.indexFile.name}' and truncate -s ` +
        `'<${this.#keptEnd}' '${path}'`,
      { path, sample: this.#length, offset: this.#keptEnd },
    );
  }
}

/** Largest size that is buffered; longer bytes are written directly. */
const LONGEST_GATHERED = 1 << 18;

const PIECE = 1 << 16;

/** Appends bytes to a bag or an index. They must equal bytes already in the file, which are not written again. */
class AppendedBytes extends GatheredBytes {
  readonly #there: number;
  readonly #mismatch: () => Error;

  /** @param there Number of bytes already in the file. */
  constructor(file: WritableFile, there: number, mismatch: () => Error) {
    super(file, 0);
    this.#there = there;
    this.#mismatch = mismatch;
    this.furthest = there;
  }

  /** Whether this many bytes can be buffered synchronously. */
  hasRoom(bytes: number): boolean {
    return bytes <= LONGEST_GATHERED && this.end >= this.#there &&
      bytes <= this.room;
  }

  /** Whether the buffer may lack room for the largest size that is buffered. */
  get isFull(): boolean {
    return this.room < LONGEST_GATHERED;
  }

  *append(bytes: Uint8Array): Steps<void> {
    if (this.end < this.#there) {
      bytes = bytes.subarray(yield* this.#compare(bytes));
      if (bytes.length === 0) return;
    }
    if (!this.hasRoom(bytes.byteLength)) yield* this.flush();
    if (this.hasRoom(bytes.byteLength)) return this.add(bytes);
    const length = bytes.byteLength;
    yield* this.write(bytes);
    if (bytes.byteLength !== length) {
      throw new TypeError(
        "The buffer was transferred or resized while it was written",
      );
    }
  }

  /** Writes the buffered bytes. If that fails, they stay buffered and can be written later. */
  override *flush(): Steps<void> {
    if (this.#hasTakenBack) yield* this.#cut();
    yield* super.flush();
  }

  /** Takes back what was appended after `end`. */
  override takeBack(end: number): void {
    super.takeBack(end);
    if (!this.#hasTakenBack) return;
    try {
      // At once: a killed process must not leave bytes that were never committed.
      runSync(this.#cut());
    } catch {
      // Retried before the next bytes are written.
    }
  }

  get #hasTakenBack(): boolean {
    return this.furthest > Math.max(this.written, this.#there);
  }

  /** Truncates bytes that were taken back, or left by a failed write. */
  *#cut(): Steps<void> {
    const end = Math.max(this.written, this.#there);
    yield* this.file.truncate(end);
    this.furthest = end;
  }

  /** Skips those of `bytes` that are already in the file, and returns their number. */
  *#compare(bytes: Uint8Array): Steps<number> {
    const start = this.written;
    const length = Math.min(bytes.byteLength, this.#there - start);
    const there = new Uint8Array(Math.min(length, PIECE));
    for (let done = 0; done < length; done += PIECE) {
      const piece = there.subarray(0, length - done);
      yield* this.file.readAt(piece, start + done);
      const same = bytes.subarray(done, done + piece.byteLength);
      if (Buffer.compare(piece, same) !== 0) throw this.#mismatch();
    }
    this.startAt(start + length);
    return length;
  }
}
