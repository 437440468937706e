import type { WaitOptions } from "../../io/byte_source.ts";
import { runAsync, runSync, type Steps } from "../../io/steps.ts";
import { readHeader } from "./header.ts";
import { readSample, readSamples } from "./read_samples.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordFiles,
  type RecordLocation,
} from "./record_files.ts";

/**
 * Reads the samples of an FFRecord file, of several files as one sequence, or of a directory of
 * `.ffr` files in the order of their names (Python's `ffrecord.FileReader`).
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

  private constructor(files: RecordFiles, options: OpenOptions) {
    this.#files = files;
    this.#check = options.checkData ?? true;
  }

  static *#open(
    location: RecordLocation,
    options: OpenOptions,
  ): Steps<FFRecordReader> {
    return new FFRecordReader(
      yield* openRecordFiles(location, options),
      options,
    );
  }

  /**
   * Opens FFRecord files.
   *
   * @param location A file, a list of files, or a directory.
   * @throws {FormatError} If a header is damaged.
   */
  static open(
    location: RecordLocation,
    options: OpenOptions & WaitOptions = {},
  ): Promise<FFRecordReader> {
    return runAsync(FFRecordReader.#open(location, options), options.signal);
  }

  /** {@linkcode FFRecordReader.open} without waiting. */
  static openSync(
    location: RecordLocation,
    options: OpenOptions = {},
  ): FFRecordReader {
    return runSync(FFRecordReader.#open(location, options));
  }

  /** Number of samples (Python's `n`). */
  get length(): number {
    return this.#files.index.length;
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
   * @returns The samples in the order of `indices`, each in memory of its own.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If one is damaged; the error's `sample` says which.
   */
  read(
    indices: Iterable<number>,
    options: WaitOptions = {},
  ): Promise<Uint8Array[]> {
    return runAsync(
      readSamples(this.#files, [...indices], this.#check),
      options.signal,
    );
  }

  /** {@linkcode FFRecordReader.read} without waiting. */
  readSync(indices: Iterable<number>): Uint8Array[] {
    return runSync(readSamples(this.#files, [...indices], this.#check));
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

  /** Closes the files. */
  close(): void {
    for (const source of this.#files.sources) source.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#validate(): Steps<void> {
    for (const source of this.#files.sources) yield* readHeader(source, true);
  }
}
