import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { GatheredBytes, SMALL } from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  bytesAtOnce,
  forEachPiece,
  sampleBytes,
  type SampleData,
} from "../../../io/write/sample_data.ts";
import { WriterBase } from "../../../io/write/writer_base.ts";
import { encodeName } from "../../../base/names.ts";
import { memberHeader, padded, TAR_BLOCK } from "../../../base/tar_header.ts";

/** A tar ends with two zero blocks and is padded to records of twenty blocks. */
const RECORD = 20 * TAR_BLOCK;

/** Output that writes large members without copying them. */
class MemberOutput extends GatheredBytes {
  *append(bytes: Uint8Array): Steps<void> {
    yield* this.appendSummed(bytes, () => 0, 0, "member");
  }
}

/**
 * Writes a tar, member by member, in GNU format, which all programs read.
 *
 * The tar appears under its name when it is closed, complete and synced to disk. Until then it is a hidden file in the
 * same directory, which is deleted if the writer is aborted or disposed of. A failed write leaves the writer at the
 * previous member, so it can be retried.
 *
 * @example Samples of WebDataset
 * ```ts
 * import { openSamples } from "@recordfs/recordfs";
 * import { TarWriter } from "@recordfs/recordfs/tar";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/train-000000.tar`;
 * await using writer = await TarWriter.open(path);
 * for (let i = 0; i < 3; i++) {
 *   await writer.write(`00${i}.cls`, new TextEncoder().encode(`${i}`));
 *   await writer.write(`00${i}.bin`, new Uint8Array(i));
 * }
 * await writer.close();
 *
 * using samples = await openSamples(path);
 * assert.equal(samples.length, 3);
 * ```
 */
export class TarWriter extends WriterBase {
  readonly #output: MemberOutput;
  readonly #file: NewFile["file"];
  readonly #opened = new Date();

  private constructor(file: NewFile) {
    super(file.path, {
      finish: () => this.#finish(),
      publish: () => file.publish(),
      letGo: () => file.discard(),
    });
    this.#file = file.file;
    this.#output = new MemberOutput(file.file, 0);
  }

  static *#open(path: string | URL): Steps<TarWriter> {
    return new TarWriter(yield* NewFile.create(localPath(path)));
  }

  /**
   * Starts a tar. An existing file remains unchanged until {@linkcode TarWriter.close}.
   *
   * @throws {WriteError} If it cannot be written.
   */
  static open(
    path: string | URL,
    options: WaitOptions = {},
  ): Promise<TarWriter> {
    return runAsync(TarWriter.#open(path), options.signal);
  }

  /** Synchronous {@linkcode TarWriter.open}. */
  static openSync(path: string | URL): TarWriter {
    return runSync(TarWriter.#open(path));
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#output.end;
  }

  /**
   * Adds a file. Calls that are not awaited keep their order; if one fails, the calls made after it without waiting
   * fail, too.
   *
   * @param name Path to extract to.
   * @param data The bytes, or a stream of them, whose size must be given. Up to 64 KiB are copied immediately; the
   * caller must not modify larger data before the promise is settled.
   * @throws {TypeError} If the path would not extract below the target directory, or a stream has another size.
   * @throws {WriteError} If it cannot be written.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(
    name: string,
    data: SampleData,
    { mtime, size, signal }: WaitOptions & {
      /** Modification time. Defaults to when the writer was opened. */
      readonly mtime?: Date | undefined;
      /** Size of a stream in bytes. */
      readonly size?: number | undefined;
    } = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    this.requireOpen();
    let bytes = sampleBytes(data);
    const length = bytes?.byteLength ??
      (data instanceof Blob ? data.size : size);
    if (length === undefined || !Number.isSafeInteger(length) || length < 0) {
      throw new TypeError(
        `The size of '${name}' must be given: a tar stores it before the ` +
          "bytes",
      );
    }
    const header = this.#headerOf(name, length, { mtime }, false);
    const isAtOnce = !this.busy &&
      header.byteLength + padded(length) <= this.#output.room;
    if (bytes !== undefined && length <= SMALL && !isAtOnce) {
      bytes = bytes.slice();
    }
    return this.run(
      () => this.#add(name, header, bytes ?? data, length),
      signal,
    );
  }

  /** Synchronous {@linkcode TarWriter.write} for data in memory. */
  writeSync(
    name: string,
    data: ArrayBufferView | ArrayBufferLike,
    options: { readonly mtime?: Date | undefined } = {},
  ): void {
    this.requireIdle();
    const bytes = bytesAtOnce(data);
    const { byteLength } = bytes;
    const header = this.#headerOf(name, byteLength, options, false);
    this.runSync(() => this.#add(name, header, bytes, byteLength));
  }

  /**
   * Adds a directory. Needed for empty directories only.
   *
   * @throws {TypeError} If the path would not extract below the target directory.
   * @throws {WriteError} If it cannot be written.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async makeDirectory(
    name: string,
    { mtime, signal }: { readonly mtime?: Date | undefined } & WaitOptions = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    this.requireOpen();
    const path = name.endsWith("/") ? name : `${name}/`;
    const header = this.#headerOf(path, 0, { mtime }, true);
    return this.run(
      () => this.#add(name, header, new Uint8Array(0), 0),
      signal,
    );
  }

  #headerOf(
    name: string,
    size: number,
    { mtime = this.#opened }: { readonly mtime?: Date | undefined },
    isDirectory: boolean,
  ): Uint8Array {
    const parts = (isDirectory ? name.slice(0, -1) : name).split("/");
    const isSafe = !name.includes("\0") &&
      parts.every((part) => part !== "" && part !== "..") &&
      (isDirectory || parts.at(-1) !== ".");
    if (!isSafe) {
      throw new TypeError(
        `'${name}' must be the path of a ` +
          `${isDirectory ? "directory" : "file"} that can be extracted below ` +
          "a directory",
      );
    }
    const time = mtime.getTime();
    if (Number.isNaN(time)) {
      throw new TypeError(`The time of '${name}' must be a valid date`);
    }
    return memberHeader(
      { name: encodeName(name), size, mtime: time },
      isDirectory,
    );
  }

  *#add(
    name: string,
    header: Uint8Array,
    data: SampleData,
    length: number,
  ): Steps<void> {
    const output = this.#output;
    const start = output.end;
    try {
      yield* output.append(header);
      if (data instanceof Uint8Array) yield* output.append(data);
      else yield* this.#addStream(name, data, length);
      yield* output.append(new Uint8Array(padded(length) - length));
    } catch (error) {
      output.takeBack(start);
      throw error;
    }
  }

  *#addStream(name: string, data: SampleData, length: number): Steps<void> {
    const output = this.#output;
    const end = output.end + length;
    const wrong = () =>
      new TypeError(
        `The stream of '${name}' must give the ${length} bytes that were ` +
          "declared",
      );
    yield* forEachPiece(data, function* (piece) {
      if (output.end + piece.byteLength > end) throw wrong();
      yield* output.append(piece);
    });
    if (output.end !== end) throw wrong();
  }

  *#finish(): Steps<void> {
    const output = this.#output;
    const members = output.end;
    const end = Math.ceil((members + 2 * TAR_BLOCK) / RECORD) * RECORD;
    try {
      yield* output.append(new Uint8Array(end - members));
      yield* output.complete();
      yield* this.#file.sync();
    } catch (error) {
      output.takeBack(members);
      throw error;
    }
  }
}
