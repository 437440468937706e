import { WriteError } from "../../../errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { bytesOf } from "../../../bytes_of.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { SerialQueue } from "../../../io/concurrency/serial_queue.ts";
import { endOfHeader } from "../layout.ts";
import { recordFilePath } from "./record_paths.ts";
import {
  forEachPiece,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import { SampleOutput, SMALL_SAMPLE } from "./sample_output.ts";
import { TableOutput } from "./table_output.ts";

/** Options of a new FFRecord file. */
export interface WriterOptions {
  /**
   * How many samples will be written (Python's `n`); writing more or fewer is an error. Without
   * it, any number: closing then moves the samples up once, to make room for the header.
   */
  readonly count?: number | undefined;
}

type State = "open" | "closing" | "closed" | "aborted";

/**
 * Writes an FFRecord file (Python's `ffrecord.FileWriter`), sample by sample and in constant
 * memory, whatever the number and size of the samples.
 *
 * The file appears under its name when it is closed, complete and on the disk. Until then it is a
 * hidden file beside it, which goes when the writer is aborted or disposed of; a process that is
 * killed leaves it behind. A file of that name is replaced; a symbolic link is written through.
 *
 * A write that fails (a full disk, a stream that throws, an aborted signal) leaves the writer at
 * the sample before: it can be repeated.
 *
 * @example Write samples
 * ```ts
 * import { FFRecordReader, FFRecordWriter } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/words.ffr`;
 * await using writer = await FFRecordWriter.open(path);
 * for (const word of ["one", "two", "three"]) {
 *   await writer.write(new TextEncoder().encode(word));
 * }
 * await writer.close();
 *
 * using reader = await FFRecordReader.open(path);
 * assert.equal(new TextDecoder().decode(await reader.readOne(2)), "three");
 * ```
 */
export class FFRecordWriter implements Disposable, AsyncDisposable {
  readonly #file: NewFile;
  readonly #count: number | undefined;
  readonly #samples: SampleOutput;
  readonly #table: TableOutput;
  readonly #queue: SerialQueue;
  #state: State = "open";
  #closed: Promise<void> | undefined;

  private constructor(file: NewFile, count: number | undefined) {
    this.#file = file;
    this.#count = count;
    this.#samples = new SampleOutput(
      file.file,
      count === undefined ? 0 : endOfHeader(count),
    );
    this.#table = new TableOutput(file.file, count);
    this.#queue = new SerialQueue(file.path);
  }

  static *#open(
    path: string | URL,
    { count }: WriterOptions,
  ): Steps<FFRecordWriter> {
    if (count !== undefined && !isCount(count)) {
      throw new RangeError(
        `count must be a whole number of samples from 0 on, not ${count}`,
      );
    }
    const target = recordFilePath(localPath(path));
    return new FFRecordWriter(yield* NewFile.create(target), count);
  }

  /**
   * Starts a file.
   *
   * @param path Where; its name ends in `.ffr`, since Python opens no other.
   * @throws {WriteError} If it can't be written there.
   */
  static open(
    path: string | URL,
    options: WriterOptions & WaitOptions = {},
  ): Promise<FFRecordWriter> {
    return runAsync(FFRecordWriter.#open(path, options), options.signal);
  }

  /** {@linkcode FFRecordWriter.open} without waiting. */
  static openSync(
    path: string | URL,
    options: WriterOptions = {},
  ): FFRecordWriter {
    return runSync(FFRecordWriter.#open(path, options));
  }

  /** The path of the file, as it was given. */
  get path(): string {
    return this.#file.path;
  }

  /** Number of samples written so far (Python's `count`). */
  get length(): number {
    return this.#table.length;
  }

  /**
   * Writes one sample (Python's `write_one`). Calls that are not awaited keep their order; if one
   * fails, so do those that were made after it without waiting.
   *
   * @param data The sample. Up to 64 KiB are copied at once; what is larger must not be changed
   * before the promise is settled.
   * @returns The sample's index.
   * @throws {WriteError} If there are `count` samples already, or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(data: SampleData, options: WaitOptions = {}): Promise<number> {
    options.signal?.throwIfAborted();
    this.#requireOpen();
    let bytes = sampleBytes(data);
    if (bytes !== undefined && !this.#queue.busy) {
      this.#requireRoom();
      const index = this.#addAtOnce(bytes);
      if (index !== undefined) return index;
    }
    if (bytes !== undefined && bytes.length <= SMALL_SAMPLE) {
      bytes = bytes.slice();
    }
    return this.#queue.take(() => {
      if (this.#state === "aborted") this.#requireOpen();
      return runAsync(this.#add(bytes ?? data), options.signal);
    });
  }

  /** {@linkcode FFRecordWriter.write} without waiting, of what is in memory. */
  writeSync(data: ArrayBufferView | ArrayBufferLike): number {
    this.#requireOpen();
    this.#requireIdle();
    const bytes = sampleBytes(data);
    if (bytes === undefined) {
      throw new TypeError(
        "A Blob or stream has to be waited for: use write() instead of writeSync()",
      );
    }
    if (bytes.length <= SMALL_SAMPLE) {
      this.#requireRoom();
      const index = this.#addAtOnce(bytes);
      if (index !== undefined) return index;
    }
    return runSync(this.#add(bytes));
  }

  /**
   * Completes the file: writes its header, waits until all is on the disk and gives it its name.
   * Closing again does nothing. If it fails, nothing is left of the file.
   *
   * @throws {WriteError} If fewer samples than `count` were written, a write that was not awaited
   * has failed, or the system refuses.
   */
  close(options: WaitOptions = {}): Promise<void> {
    return this.#closed ??= this.#close(options.signal);
  }

  /** {@linkcode FFRecordWriter.close} without waiting. */
  closeSync(): void {
    if (this.#state === "closed") return;
    this.#requireOpen();
    this.#requireIdle();
    try {
      runSync(this.#finish());
      runSync(this.#file.publish());
      this.#state = "closed";
    } finally {
      this.#letGo();
    }
  }

  /** Gives the file up: nothing of it remains, and a file that it was to replace is as it was. */
  abort(): void {
    if (this.#state === "closed") return;
    this.#letGo();
  }

  /** Aborts, unless the file is closed. */
  [Symbol.dispose](): void {
    this.abort();
  }

  /** Aborts, unless the file is closed or about to be. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "closing") await this.#closed?.catch(() => {});
    this.abort();
  }

  async #close(signal: AbortSignal | undefined): Promise<void> {
    if (this.#state === "closed") return;
    this.#requireOpen();
    this.#state = "closing";
    try {
      await this.#queue.take(async () => {
        await runAsync(this.#finish(), signal);
        await runAsync(this.#file.publish()); // too late to give up
        this.#state = "closed";
      });
    } finally {
      this.#letGo();
    }
  }

  *#finish(): Steps<void> {
    const { length } = this;
    if (this.#count !== undefined && length < this.#count) {
      throw new WriteError(
        "too-few-samples",
        `Cannot close ${this.path}: ${length} of ${this.#count} samples were ` +
          `written; it was given up. Write them all, or open it without a count`,
        { path: this.path, expected: this.#count, actual: length },
      );
    }
    const shift = this.#count === undefined ? endOfHeader(length) : 0;
    yield* this.#samples.finish(shift);
    yield* this.#table.finish(shift);
    yield* this.#file.file.sync();
  }

  /** Adds a sample where that takes no writing. */
  #addAtOnce(bytes: Uint8Array): number | undefined {
    if (bytes.length > this.#samples.room || this.#table.isFull) return;
    const start = this.#samples.end;
    this.#table.add(this.#samples.gather(bytes, 0), start);
    return this.length - 1;
  }

  *#add(data: SampleData): Steps<number> {
    this.#requireRoom();
    if (this.#table.isFull) yield* this.#table.spill();
    const samples = this.#samples;
    const start = samples.end;
    let crc = 0;
    try {
      const bytes = bytesOf(data);
      if (bytes !== undefined) crc = yield* samples.append(bytes, crc);
      else {
        yield* forEachPiece(data, function* (piece) {
          crc = yield* samples.append(piece, crc);
        });
      }
    } catch (error) {
      samples.takeBack(start);
      throw error;
    }
    this.#table.add(crc, start);
    return this.length - 1;
  }

  #requireOpen(): void {
    if (this.#state === "open") return;
    throw new WriteError(
      "closed",
      this.#state === "aborted"
        ? `${this.path} was given up: open a new writer`
        : `${this.path} has been closed: no sample can be added`,
      { path: this.path },
    );
  }

  #requireIdle(): void {
    if (!this.#queue.busy) return;
    throw new WriteError(
      "busy",
      `${this.path} is being written to: await write() before a method that does not wait`,
      { path: this.path },
    );
  }

  #requireRoom(): void {
    if (this.length !== this.#count) return;
    throw new WriteError(
      "too-many-samples",
      `Cannot write another sample to ${this.path}: it was opened for ${this.#count}`,
      { path: this.path, expected: this.#count },
    );
  }

  /** Ends the writer; a file that is not published yet goes. */
  #letGo(): void {
    if (this.#state !== "closed") this.#state = "aborted";
    this.#table.close();
    this.#file.discard();
  }
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0 &&
    Number.isSafeInteger(endOfHeader(count));
}
