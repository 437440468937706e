import { MappedSources } from "../../../io/read/mapped_sources.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { readHeader } from "./header.ts";
import {
  expectSamples,
  readSample,
  readSamples,
  viewSamples,
} from "./read_samples.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordFiles,
  type RecordFilesHandle,
  type RecordLocation,
  reopenRecordFiles,
  shareRecordFiles,
} from "./record_files.ts";
import { WholeSamples } from "./whole_samples.ts";

/**
 * What another thread needs to open the files of a reader: it survives `postMessage`, without copying
 * tables.
 */
export interface ReaderHandle {
  /** The files, and their tables in shared memory. */
  readonly files: unknown;
  /** Whether samples are compared with their checksums. */
  readonly checkData: boolean;
}

/**
 * Reads the samples of an FFRecord file, of several files as one sequence, or of a directory of
 * `.ffr` files in the order of their names (Python's `ffrecord.FileReader`). Opening a file that was cut warns;
 * reading a sample that is not there any more throws.
 *
 * @example Read samples
 * ```ts
 * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * using reader = await FFRecordReader.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const [first] = await reader.read([0]);
 * assert.equal(reader.length, 1);
 * assert.equal(first?.length, 33);
 * ```
 */
export class FFRecordReader implements Disposable {
  readonly #files: RecordFiles;
  readonly #check: boolean;
  readonly #mapped: MappedSources;
  #whole: WholeSamples | undefined;

  /** @ignore Readers are made by `open`. */
  constructor(files: RecordFiles, options: OpenOptions) {
    this.#files = files;
    this.#check = options.checkData ?? true;
    this.#mapped = new MappedSources(files.sources);
  }

  /**
   * Opens FFRecord files.
   *
   * @param location A file, a list of files, or a directory.
   * @throws {FormatError} If a header is damaged.
   */
  static async open(
    location: RecordLocation,
    options: OpenOptions & WaitOptions = {},
  ): Promise<FFRecordReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /** {@linkcode FFRecordReader.open} without waiting. */
  static openSync(
    location: RecordLocation,
    options: OpenOptions = {},
  ): FFRecordReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the files of a reader in another thread, over the tables that it has read and checked.
   *
   * @param handle What {@linkcode FFRecordReader.share} gave.
   * @throws {FormatError} If a file is not the same any more.
   */
  static async openShared(
    { files, checkData }: ReaderHandle,
    options: Pick<OpenOptions, "storage"> & WaitOptions = {},
  ): Promise<FFRecordReader> {
    const handle = files as RecordFilesHandle;
    const opening = reopenRecordFiles(handle, options.storage);
    const opened = await runAsync(opening, options.signal);
    return new FFRecordReader(opened, { checkData });
  }

  /** Describes the reader for {@linkcode FFRecordReader.openShared}. */
  share(): ReaderHandle {
    return { files: shareRecordFiles(this.#files), checkData: this.#check };
  }

  /** Where the files lie. */
  get storage(): Storage {
    return this.#files.storage;
  }

  /** Number of samples (Python's `n`), with those that a file was cut before. */
  get length(): number {
    return this.#files.index.length;
  }

  /** @ignore The samples that datasets have. */
  get whole(): WholeSamples {
    return this.#whole ??= new WholeSamples(this.#files.index);
  }

  /** Paths of the files, in reading order. */
  get paths(): readonly string[] {
    return this.#files.sources.map((source) => source.name);
  }

  /**
   * Byte offset of each sample in its own file, as the file has it: NaN where damage has made it
   * negative or larger than 2^53. A new array of `length` numbers at each access.
   */
  get offsets(): Float64Array {
    const offsets = new Float64Array(this.length);
    for (let i = 0; i < offsets.length; i++) {
      offsets[i] = this.#files.index.rawOffset(i);
    }
    return offsets;
  }

  /** Recorded CRC-32 of each sample. A new array of `length` numbers at each access. */
  get checksums(): Uint32Array {
    const checksums = new Uint32Array(this.length);
    this.#files.headers.forEach(({ table, count }, part) => {
      checksums.set(table.subarray(0, count), this.#files.index.startOf(part));
    });
    return checksums;
  }

  /**
   * Reads one sample (Python's `read_one`).
   *
   * @param index From 0 to `length - 1`.
   * @returns The bytes, in memory that is the caller's.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If it is damaged.
   */
  readOne(index: number, options: WaitOptions = {}): Promise<Uint8Array> {
    return runAsync(
      readSample(this.#files, index, this.#check),
      options.signal,
    );
  }

  /** {@linkcode FFRecordReader.readOne} without waiting. */
  readOneSync(index: number): Uint8Array {
    return runSync(readSample(this.#files, index, this.#check));
  }

  /**
   * Reads a batch of samples: any number, in any order, repeats allowed (Python's `read`).
   *
   * @returns The samples in the order of `indices`, none of which shares bytes with another.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If one is damaged; the error's `sample` says which.
   *
   * @example Read into the same memory again and again
   * ```ts
   * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
   * import assert from "node:assert/strict";
   *
   * using reader = await FFRecordReader.open("test/golden/ffrecord/plain_many/sample_92.ffr");
   * const bytes = new Uint8Array(1 << 20);
   * const memory = { take: (length: number) => bytes.subarray(0, length) };
   * let total = 0;
   * for (let i = 0; i < reader.length; i += 4) {
   *   const batch = await reader.read([i, i + 1, i + 2, i + 3], { memory });
   *   for (const sample of batch) total += sample.length; // before the next batch is read
   * }
   * assert.ok(total > 0);
   * ```
   */
  read(
    indices: Iterable<number>,
    options: BatchReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    return runAsync(
      readSamples(this.#files, [...indices], this.#check, options.memory),
      options.signal,
    );
  }

  /** {@linkcode FFRecordReader.read} without waiting. */
  readSync(
    indices: Iterable<number>,
    options: BatchReadSyncOptions = {},
  ): Uint8Array<ArrayBuffer>[] {
    return runSync(
      readSamples(this.#files, [...indices], this.#check, options.memory),
    );
  }

  /**
   * Says that samples will be read soon: where the files lie on a server, they are fetched meanwhile, up to some
   * megabytes at a time. Nothing is waited for, and what is wrong with them whoever reads them is told.
   *
   * @param indices Which, the first ones first.
   * @returns How many bytes are fetched, or have been; 0 where the files are local.
   */
  expect(indices: Iterable<number>): number {
    return expectSamples(this.#files, [...indices]);
  }

  /**
   * The file that a sample lies in.
   *
   * @param index From 0 to `length - 1`.
   * @throws {IndexError} If there is no such sample.
   */
  fileOf(index: number): string {
    const { index: samples, sources } = this.#files;
    samples.require(index);
    return sources[samples.partOf(index)]!.name;
  }

  /**
   * A view of a sample in a memory map of its file: nothing is copied, which is two to three times
   * as fast as reading. Linux only, and it needs `--allow-ffi`.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails:
   * so for files that nobody changes. Writing to a view never changes the file; it changes what all
   * views of those bytes show. The view stays valid after `close()`, for as long as it is referred
   * to. Its `buffer` is the whole file: it must not be transferred to another thread, which would
   * empty all views of the file; post a copy, made with `slice()`: posting the view copies the whole file.
   *
   * @param index From 0 to `length - 1`.
   * @returns The bytes; compared with their checksum at each call, unless `checkData` is `false`.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If it is damaged, or its file was cut.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped: `read` works there.
   *
   * @example Look at a sample in place
   * ```ts
   * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
   * import assert from "node:assert/strict";
   *
   * using reader = await FFRecordReader.open("test/golden/ffrecord/plain_one/sample_86.ffr");
   * assert.deepEqual(reader.unsafeView(0), await reader.readOne(0));
   * ```
   */
  unsafeView(index: number): Uint8Array<ArrayBuffer> {
    return this.#views([index])[0]!;
  }

  /**
   * {@linkcode FFRecordReader.unsafeView} of several samples, in the order of `indices`: any number,
   * repeats allowed.
   */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    return this.#views([...indices]);
  }

  /**
   * Reads all headers again and compares them with their checksums (Python's `validate`).
   *
   * @throws {FormatError} If one is damaged or was changed.
   */
  validate(options: WaitOptions = {}): Promise<void> {
    return runAsync(this.#validate(), options.signal);
  }

  /** {@linkcode FFRecordReader.validate} without waiting. */
  validateSync(): void {
    runSync(this.#validate());
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

  #views(indices: readonly number[]): Uint8Array<ArrayBuffer>[] {
    return viewSamples(this.#mapped, this.#files, indices, this.#check);
  }

  *#validate(): Steps<void> {
    for (const source of this.#files.sources) yield* readHeader(source, true);
  }
}

function* openReader(
  location: RecordLocation,
  options: OpenOptions,
): Steps<FFRecordReader> {
  const files = yield* openRecordFiles(location, options);
  const reader = new FFRecordReader(files, options);
  warnOfAll(reader.whole.lines, options.onWarning);
  return reader;
}
