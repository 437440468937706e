import {
  inBatches,
  isIndex,
  nameOfFiles,
  requireIndices,
} from "../../../tree/sample_indices.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { MappedSources } from "../../../io/read/mapped_sources.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { TFExample } from "../proto/example.ts";
import { exampleOf } from "./example_of.ts";
import {
  expectRecords,
  type FilesHandle,
  openFiles,
  readRecords,
  type RecordFiles,
  reopenFiles,
  viewRecords,
} from "./record_files.ts";
import { recordPaths } from "./record_paths.ts";

/** How a {@linkcode TFRecordReader} opens its files. */
export type TFRecordOptions = Pick<
  ContainerOptions,
  "checkData" | "onWarning" | "remote" | "storage"
>;

/** What another thread needs to open the files of a reader: it survives `postMessage`, without copying tables. */
export interface TFRecordReaderHandle {
  /** The files, and their tables in shared memory. */
  readonly files: unknown;
  /** Whether records are compared with their checksums. */
  readonly checkData: boolean;
}

/**
 * Reads the records of a TFRecord file, or of several as one: shards in a directory, or those that a pattern as
 * `train-?????-of-00010` names. Any record is read without those before it, and compared with its checksum. Of a file
 * that was cut, the whole records are read, and the warning names the first that is not.
 *
 * @example Read records and examples
 * ```ts
 * import { TFRecordReader } from "@recordfs/recordfs/tfrecord";
 * import assert from "node:assert/strict";
 *
 * using reader = await TFRecordReader.open("test/golden/tfrecord/examples/pictures.tfrecord");
 * const { features } = await reader.example(2);
 * assert.deepEqual(features["image/class/label"], BigInt64Array.of(2n));
 *
 * for await (const records of reader.batches({ batch: 4 })) console.log(records.length);
 * ```
 */
export class TFRecordReader implements Disposable {
  readonly #files: RecordFiles;
  readonly #check: boolean;
  readonly #mapped: MappedSources;
  /** Where the files lie. */
  readonly storage: Storage;

  /** @ignore Readers are made by `open`. */
  constructor(files: RecordFiles, storage: Storage, check: boolean) {
    this.#files = files;
    this.storage = storage;
    this.#check = check;
    this.#mapped = new MappedSources(files.sources);
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010`.
   * @throws {FormatError} If one is compressed, or its first length is wrong; or if no record of any is whole.
   */
  static async open(
    location: string | URL,
    options: TFRecordOptions & WaitOptions = {},
  ): Promise<TFRecordReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /**
   * {@linkcode TFRecordReader.open} without waiting: what takes checksums has to be loaded by then, as it is when any
   * file was opened before, unless `checkData` is `false`.
   *
   * @throws {RecordfsError} With code `must-wait` if it is not.
   */
  static openSync(
    location: string | URL,
    options: TFRecordOptions = {},
  ): TFRecordReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the files of a reader in another thread, over the tables that it has read.
   *
   * @param handle What {@linkcode TFRecordReader.share} gave.
   * @throws {FormatError} If a file is not the same any more.
   */
  static async openShared(
    { files, checkData }: TFRecordReaderHandle,
    { storage = LOCAL_DISK, signal }:
      & Pick<TFRecordOptions, "storage">
      & WaitOptions = {},
  ): Promise<TFRecordReader> {
    const opened = await runAsync(
      reopenFiles(files as FilesHandle, storage, checkData),
      signal,
    );
    return new TFRecordReader(opened, storage, checkData);
  }

  /** Describes the reader for {@linkcode TFRecordReader.openShared}. */
  share(): TFRecordReaderHandle {
    return { files: this.#files.table.files, checkData: this.#check };
  }

  /** Number of records that are whole. */
  get length(): number {
    return this.#files.table.length;
  }

  /** Paths of the files, in their order. */
  get paths(): readonly string[] {
    return this.#files.table.files.map(({ path }) => path);
  }

  /** Whether records are examples, as the first one of each file says. */
  get hasExamples(): boolean {
    return this.#files.table.kind !== "records";
  }

  /**
   * Reads a record, or a batch of records: in the order in which they lie, neighbours in one go.
   *
   * @param index From 0 to `length - 1`, or any number of such, in any order, repeats allowed.
   * @throws {IndexError} If there is no such record.
   * @throws {FormatError} If one does not have its checksum.
   */
  read(
    index: number,
    options?: BatchReadOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads a batch of records. */
  read(
    indices: Iterable<number>,
    options?: BatchReadOptions,
  ): Promise<Uint8Array<ArrayBuffer>[]>;
  async read(
    index: number | Iterable<number>,
    { memory, signal }: BatchReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>[]> {
    const indices = this.#required(index);
    const reading = readRecords(this.#files, indices, this.#check, memory);
    const read = await runAsync(reading, signal);
    return typeof index === "number" ? read[0]! : read;
  }

  /** {@linkcode TFRecordReader.read} without waiting. */
  readSync(
    index: number,
    options?: BatchReadSyncOptions,
  ): Uint8Array<ArrayBuffer>;
  /** Reads a batch of records without waiting. */
  readSync(
    indices: Iterable<number>,
    options?: BatchReadSyncOptions,
  ): Uint8Array<ArrayBuffer>[];
  readSync(
    index: number | Iterable<number>,
    { memory }: BatchReadSyncOptions = {},
  ): Uint8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>[] {
    const indices = this.#required(index);
    const read = runSync(
      readRecords(this.#files, indices, this.#check, memory),
    );
    return typeof index === "number" ? read[0]! : read;
  }

  /**
   * Views of records in memory maps of their files: nothing is copied. Linux only, and it needs `--allow-ffi`.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails: so for files that
   * nobody changes. The `buffer` of a view is the whole file: it must not be transferred to another thread, and a copy,
   * made with `slice()`, is what is posted. Views stay valid after `close()`.
   *
   * @returns The bytes; compared with their checksums at each call, unless `checkData` is `false`.
   * @throws {IndexError} If there is no such record.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped: `read` works there.
   */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    const records = this.#required(indices);
    return viewRecords(this.#mapped, this.#files, records, this.#check);
  }

  /**
   * All records in their order, in batches.
   *
   * @param options How many are read in one go; 256 unless given.
   */
  batches(
    options: WaitOptions & { readonly batch?: number } = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>[], void, undefined> {
    return inBatches(
      this.length,
      options,
      (indices, options) => this.read(indices, options),
    );
  }

  /**
   * Reads a record as an `Example` or `SequenceExample`.
   *
   * @throws {FormatError} With code `bad-value` if it is none.
   */
  async example(
    index: number,
    options?: BatchReadOptions,
  ): Promise<TFExample> {
    const [example] = await this.examples([index], options);
    return example!;
  }

  /** Reads a batch of records as examples. Their values are views into the records. */
  async examples(
    indices: Iterable<number>,
    options?: BatchReadOptions,
  ): Promise<TFExample[]> {
    const records = [...indices];
    const read = await this.read(records, options);
    return read.map((bytes, i) =>
      exampleOf(this.#files.table, records[i]!, bytes)
    );
  }

  /**
   * Says that records will be read soon: where the files lie on a server, they are fetched meanwhile.
   *
   * @returns How many bytes are fetched, or have been; 0 where the files are local.
   */
  expect(indices: Iterable<number>): number {
    const known = [...indices].filter((index) => isIndex(index, this.length));
    return expectRecords(this.#files, known);
  }

  /**
   * The file that a record lies in.
   *
   * @throws {IndexError} If there is no such record.
   */
  fileOf(index: number): string {
    const [record] = this.#required(index);
    const { table } = this.#files;
    return table.files[table.fileOf(record!)]!.path;
  }

  /** Closes the files. What was read, and views, stay valid. */
  close(): void {
    this.#mapped.close();
    for (const source of this.#files.sources) source.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #required(index: number | Iterable<number>): readonly number[] {
    const path = () => nameOfFiles(this.paths);
    return requireIndices(index, this.length, path, "record");
  }
}

function* openReader(
  location: string | URL,
  options: TFRecordOptions,
): Steps<TFRecordReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* recordPaths(path, storage);
  const files = yield* openFiles(paths, storage, options);
  warnOfAll(noteLines(files.table.notes()), options.onWarning);
  return new TFRecordReader(files, storage, options.checkData ?? true);
}
