import { bytesOf } from "../../../base/bytes_of.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { crc32cLoaded, crc32cOf } from "../../../io/checksums/crc32c.ts";
import { GatheredBytes, SMALL } from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  bytesAtOnce,
  forEachPiece,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import { WriterBase } from "../../../io/write/writer_base.ts";
import { FRAME, HEADER, headerOf, masked } from "../layout.ts";

/** Output that computes checksums of appended bytes. */
class TFRecordOutput extends GatheredBytes {
  /**
   * Appends any number of bytes.
   *
   * @param crc Checksum of the bytes before them.
   * @returns Checksum including them.
   */
  append(bytes: Uint8Array, crc: number): Steps<number> {
    return this.appendSummed(bytes, crc32cOf, crc, "record");
  }

  /** Appends a few bytes. */
  *put(bytes: Uint8Array): Steps<void> {
    if (bytes.byteLength > this.room) yield* this.flush();
    this.add(bytes);
  }
}

/**
 * Writes a TFRecord file, record by record, in constant memory for any number and size of records.
 *
 * Closing the writer makes the file appear under its name, complete and on disk, and replaces a file of that name.
 * Until then, it is a hidden file next to it, which is removed when the writer is aborted or disposed of. A failed
 * write leaves the writer at the previous record and can be repeated.
 *
 * @example Write records
 * ```ts
 * import { openSamples } from "@recordfs/recordfs";
 * import { TFRecordWriter } from "@recordfs/recordfs/tfrecord";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/words.tfrecord`;
 * await using writer = await TFRecordWriter.open(path);
 * for (const word of ["one", "two", "three"]) {
 *   await writer.write(new TextEncoder().encode(word));
 * }
 * await writer.close();
 *
 * using samples = await openSamples(path);
 * const { content } = await samples.get(2);
 * assert.equal(new TextDecoder().decode(content as Uint8Array), "three");
 * ```
 */
export class TFRecordWriter extends WriterBase {
  readonly #output: TFRecordOutput;
  readonly #file: NewFile["file"];
  readonly #waits: boolean;
  #length = 0;

  private constructor(file: NewFile, sync: boolean) {
    super(file.path, {
      finish: () => this.#finish(),
      publish: () => file.publish(sync),
      letGo: () => file.discard(),
    });
    this.#file = file.file;
    this.#waits = sync;
    this.#output = new TFRecordOutput(file.file, 0);
  }

  static *#open(
    path: string | URL,
    { sync = true }: NonNullable<Parameters<typeof TFRecordWriter.openSync>[1]>,
  ): Steps<TFRecordWriter> {
    yield* crc32cLoaded();
    return new TFRecordWriter(yield* NewFile.create(localPath(path)), sync);
  }

  /**
   * Starts a file.
   *
   * @throws {WriteError} If it cannot be written.
   */
  static open(
    path: string | URL,
    options: WaitOptions & {
      /**
       * Whether closing waits until the file is on disk. Defaults to `true`. If `false`, a power failure soon after may
       * leave an incomplete file under its name.
       */
      readonly sync?: boolean | undefined;
    } = {},
  ): Promise<TFRecordWriter> {
    return runAsync(TFRecordWriter.#open(path, options), options.signal);
  }

  /**
   * Synchronous version of {@linkcode TFRecordWriter.open}. CRC-32C must be loaded, as it is after any file was opened.
   *
   * @throws {RecordfsError} With code `must-wait` if it is not.
   */
  static openSync(
    path: string | URL,
    options: Omit<
      NonNullable<Parameters<typeof TFRecordWriter.open>[1]>,
      "signal"
    > = {},
  ): TFRecordWriter {
    return runSync(TFRecordWriter.#open(path, options));
  }

  /** Number of records written so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the file so far. */
  get size(): number {
    return this.#output.end;
  }

  /**
   * Writes one record. Calls that are not awaited keep their order; if one fails, so do the calls made after it without
   * waiting.
   *
   * @param data The record. Up to 64 KiB are copied at once; larger data must not change before the promise settles.
   * @returns Index of the record.
   * @throws {WriteError} If the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(data: SampleData, options: WaitOptions = {}): Promise<number> {
    options.signal?.throwIfAborted();
    this.requireOpen();
    let bytes = sampleBytes(data);
    if (bytes !== undefined && !this.busy && this.#addAtOnce(bytes)) {
      return this.#length - 1;
    }
    if (bytes !== undefined && bytes.byteLength <= SMALL) bytes = bytes.slice();
    return this.run(() => this.#add(bytes ?? data), options.signal);
  }

  /** Synchronous version of {@linkcode TFRecordWriter.write}, for data in memory. */
  writeSync(data: ArrayBufferView | ArrayBufferLike): number {
    this.requireIdle();
    const bytes = bytesAtOnce(data);
    if (this.#addAtOnce(bytes)) return this.#length - 1;
    return this.runSync(() => this.#add(bytes));
  }

  *#finish(): Steps<void> {
    yield* this.#output.complete();
    if (this.#waits) yield* this.#file.sync();
  }

  /** Adds a record if that needs no write to the file. */
  #addAtOnce(bytes: Uint8Array): boolean {
    const { byteLength } = bytes;
    const output = this.#output;
    if (byteLength > SMALL || byteLength + FRAME > output.room) return false;
    output.add(headerOf(byteLength));
    output.add(bytes);
    output.add(footerOf(crc32cOf(bytes)));
    this.#length++;
    this.isUnsaved = true;
    return true;
  }

  *#add(data: SampleData): Steps<number> {
    const output = this.#output;
    const start = output.end;
    try {
      const bytes = bytesOf(data);
      if (bytes !== undefined) {
        yield* output.put(headerOf(bytes.byteLength));
        const crc = yield* output.append(bytes, 0);
        yield* output.put(footerOf(crc));
      } else yield* this.#addStream(data, start);
    } catch (error) {
      output.takeBack(start);
      throw error;
    }
    return this.#length++;
  }

  /** Writes the length of a stream at its end, when it is known. */
  *#addStream(data: SampleData, start: number): Steps<void> {
    const output = this.#output;
    let crc = 0;
    yield* output.put(new Uint8Array(HEADER));
    yield* forEachPiece(data, function* (piece) {
      crc = yield* output.append(piece, crc);
    });
    const length = output.end - start - HEADER;
    yield* output.put(footerOf(crc));
    yield* output.flush();
    yield* this.#file.writeAt(headerOf(length), start);
  }
}

function footerOf(crc: number): Uint8Array<ArrayBuffer> {
  const footer = new Uint8Array(4);
  new DataView(footer.buffer).setUint32(0, masked(crc), true);
  return footer;
}
