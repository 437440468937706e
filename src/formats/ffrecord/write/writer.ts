import { WriteError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { bytesOf } from "../../../base/bytes_of.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { SMALL } from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { WriterBase } from "../../../io/write/writer_base.ts";
import { endOfHeader } from "../layout.ts";
import { recordFilePath } from "./record_paths.ts";
import {
  bytesAtOnce,
  forEachPiece,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import type { SampleBlock } from "./sample_block.ts";
import { SampleOutput } from "./sample_output.ts";
import { TableOutput } from "./table_output.ts";

export let writeBlock: (
  writer: FFRecordWriter,
  block: SampleBlock,
  options: WaitOptions,
) => Promise<void>;

/** Minimum bytes per write-back request. */
const LEAST_SYNC = 16 << 20;

/**
 * Writes an FFRecord file (Python's `ffrecord.FileWriter`), sample by sample, in constant memory for any number and
 * size of samples.
 *
 * The file appears under its name when it is closed, complete and on disk. Until then it is a hidden file next to it,
 * which aborting or disposing of the writer deletes; a killed process leaves it behind. An existing file is replaced; a
 * symbolic link is written through.
 *
 * A failed write (a full disk, a stream that throws, an aborted signal) leaves the writer at the previous sample: it
 * can be repeated.
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
export class FFRecordWriter extends WriterBase {
  static {
    // deno-lint-ignore require-await -- what is wrong with the writer rejects, too
    writeBlock = async (writer, block, { signal }) =>
      writer.run(() => writer.#addBlock(block), signal);
  }

  readonly #file: WritableFile;
  readonly #count: number | undefined;
  readonly #waits: boolean;
  readonly #samples: SampleOutput;
  readonly #table: TableOutput;
  /** Offset up to which write-back has been requested. */
  #syncing = 0;

  private constructor(file: NewFile, count: number | undefined, sync: boolean) {
    super(file.path, {
      finish: () => this.#finish(),
      publish: () => file.publish(sync),
      letGo: () => {
        this.#table.close();
        file.discard();
      },
    });
    this.#file = file.file;
    this.#count = count;
    this.#waits = sync;
    const start = count === undefined ? 0 : endOfHeader(count);
    this.#samples = new SampleOutput(this.#file, start);
    this.#table = new TableOutput(this.#file, count);
  }

  static *#open(
    path: string | URL,
    { count, sync = true }: WriterOptions,
  ): Steps<FFRecordWriter> {
    if (count !== undefined && !isCount(count)) {
      throw new RangeError(
        `count must be a whole number of samples from 0 on, not ${count}`,
      );
    }
    const target = recordFilePath(localPath(path));
    return new FFRecordWriter(yield* NewFile.create(target), count, sync);
  }

  /**
   * Starts a file.
   *
   * @param path Path of the file; must end in `.ffr`, since Python opens no other.
   * @throws {WriteError} If it cannot be written there.
   */
  static open(
    path: string | URL,
    options: WaitOptions & {
      /**
       * Number of samples (Python's `n`); writing more or fewer is an error. By default, any number: closing then moves
       * the samples up once, to make room for the header.
       */
      readonly count?: number | undefined;
      /**
       * Whether closing waits until the file is on disk. Defaults to `true`. If `false`, a loss of power soon after may
       * leave an incomplete file under its name.
       */
      readonly sync?: boolean | undefined;
    } = {},
  ): Promise<FFRecordWriter> {
    return runAsync(FFRecordWriter.#open(path, options), options.signal);
  }

  /** {@linkcode FFRecordWriter.open}, synchronously. */
  static openSync(
    path: string | URL,
    options: Omit<
      NonNullable<Parameters<typeof FFRecordWriter.open>[1]>,
      "signal"
    > = {},
  ): FFRecordWriter {
    return runSync(FFRecordWriter.#open(path, options));
  }

  /** Number of samples written so far (Python's `count`). */
  get length(): number {
    return this.#table.length;
  }

  /**
   * Writes one sample (Python's `write_one`). Calls that are not awaited keep their order; if one fails, so do those
   * made after it without awaiting it.
   *
   * @param data The sample. Up to 64 KiB are copied immediately; the caller must not change larger data before the
   * promise settles.
   * @returns The sample's index.
   * @throws {WriteError} If there are `count` samples already, or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(data: SampleData, options: WaitOptions = {}): Promise<number> {
    options.signal?.throwIfAborted();
    this.requireOpen();
    let bytes = sampleBytes(data);
    if (bytes !== undefined && !this.busy) {
      const index = this.#addAtOnce(bytes);
      if (index !== undefined) return index;
    }
    if (bytes !== undefined && bytes.byteLength <= SMALL) {
      bytes = bytes.slice();
    }
    return this.run(() => this.#add(bytes ?? data), options.signal);
  }

  /** {@linkcode FFRecordWriter.write} of data in memory, synchronously. */
  writeSync(data: ArrayBufferView | ArrayBufferLike): number {
    this.requireIdle();
    const bytes = bytesAtOnce(data);
    if (bytes.byteLength <= SMALL) {
      const index = this.#addAtOnce(bytes);
      if (index !== undefined) return index;
    }
    return this.runSync(() => this.#add(bytes));
  }

  *#finish(): Steps<void> {
    const { length } = this;
    if (this.#count !== undefined && length < this.#count) {
      throw new WriteError(
        "too-few-samples",
        `Cannot close ${this.path}: only ${length} of ${this.#count} ` +
          "samples were written, and it was discarded. Write them all, or open it without a " +
          "count",
        { path: this.path, expected: this.#count, actual: length },
      );
    }
    const shift = this.#count === undefined ? endOfHeader(length) : 0;
    yield* this.#samples.finish(shift);
    yield* this.#table.finish(shift);
    if (this.#waits) yield* this.#file.sync();
  }

  /** Adds a sample if that needs no file access. */
  #addAtOnce(bytes: Uint8Array): number | undefined {
    this.#requireRoom();
    if (bytes.byteLength > this.#samples.room || this.#table.isFull) return;
    const start = this.#samples.end;
    this.#table.add(this.#samples.gather(bytes, 0), start);
    this.isUnsaved = true;
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

  *#addBlock(block: SampleBlock): Steps<void> {
    const start = yield* this.#samples.appendAll(block.bytes);
    if (this.#waits) this.#startSync();
    for (let n = 0; n < block.count; n++) {
      this.#requireRoom();
      if (this.#table.isFull) yield* this.#table.spill();
      this.#table.add(block.checksumOf(n), start + block.startOf(n));
    }
  }

  /** Requests write-back of what is written, while more is added. */
  #startSync(): void {
    const length = this.#samples.written - this.#syncing;
    if (length < LEAST_SYNC) return;
    this.#file.startSync(this.#syncing, length);
    this.#syncing += length;
  }

  #requireRoom(): void {
    if (this.length !== this.#count) return;
    throw new WriteError(
      "too-many-samples",
      `Cannot write another sample to ${this.path}: it was opened for ${this.#count}`,
      { path: this.path, expected: this.#count },
    );
  }
}

/** Options of a new FFRecord file. */
export type WriterOptions = NonNullable<
  Parameters<typeof FFRecordWriter.open>[1]
>;

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0 &&
    Number.isSafeInteger(endOfHeader(count));
}
