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
import { BLOCK, memberHeader, padded } from "../../../base/tar_header.ts";

/** A tar ends in two blocks of zeros, and is filled up to records of twenty blocks. */
const RECORD = 20 * BLOCK;

/** What is said of a member. */
export interface TarMemberOptions {
  /** When it was modified; when the writer was opened, unless given. */
  readonly mtime?: Date | undefined;
}

/** Options of {@linkcode TarWriter.write}. */
export interface TarWriteOptions extends TarMemberOptions, WaitOptions {
  /** Of a stream: how many bytes it will give. */
  readonly size?: number | undefined;
}

/** Bytes that are appended from where they lie. */
class MemberOutput extends GatheredBytes {
  /** Appends bytes of any number. */
  *append(bytes: Uint8Array): Steps<void> {
    yield* this.appendSummed(bytes, () => 0, 0, "member");
  }
}

/**
 * Writes a tar, member by member, in the form of GNU tar, which all programs read.
 *
 * It appears under its name when it is closed, complete and on the disk; until then it is a hidden file beside it, which
 * goes when the writer is aborted or disposed of. A write that fails leaves the writer at the member before: it can be
 * repeated.
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
    super(file.path, "write", {
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
   * Starts a tar. A file that is there stays as it is until {@linkcode TarWriter.close}.
   *
   * @throws {WriteError} If it can't be written.
   */
  static open(
    path: string | URL,
    options: WaitOptions = {},
  ): Promise<TarWriter> {
    return runAsync(TarWriter.#open(path), options.signal);
  }

  /** {@linkcode TarWriter.open} without waiting. */
  static openSync(path: string | URL): TarWriter {
    return runSync(TarWriter.#open(path));
  }

  /** Bytes of the members so far. */
  get size(): number {
    return this.#output.end;
  }

  /**
   * Adds a file. Calls that are not awaited keep their order; if one fails, so do those that were made after it without
   * waiting.
   *
   * @param name Its path, as it is to be extracted.
   * @param data Its bytes, or a stream of them, whose size the options say. Up to 64 KiB are copied at once; what is
   * larger must not be changed before the promise is settled.
   * @throws {TypeError} If the path is none of a file that is extracted below a directory, or a stream gives another
   * size.
   * @throws {WriteError} If it can't be written.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(
    name: string,
    data: SampleData,
    { mtime, size, signal }: TarWriteOptions = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    this.requireOpen();
    let bytes = sampleBytes(data);
    const length = bytes?.byteLength ??
      (data instanceof Blob ? data.size : size);
    if (length === undefined || !Number.isSafeInteger(length) || length < 0) {
      throw new TypeError(
        `The size of '${name}' is not given: a tar says it before the bytes`,
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

  /** {@linkcode TarWriter.write} without waiting, of what is in memory. */
  writeSync(
    name: string,
    data: ArrayBufferView | ArrayBufferLike,
    options: TarMemberOptions = {},
  ): void {
    this.requireIdle();
    const bytes = bytesAtOnce(data);
    const { byteLength } = bytes;
    const header = this.#headerOf(name, byteLength, options, false);
    this.runSync(() => this.#add(name, header, bytes, byteLength));
  }

  /**
   * Adds a directory, which needs that only if nothing is in it.
   *
   * @throws {TypeError} If the path is none that is extracted below a directory.
   * @throws {WriteError} If it can't be written.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async makeDirectory(
    name: string,
    { mtime, signal }: TarMemberOptions & WaitOptions = {},
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
    { mtime = this.#opened }: TarMemberOptions,
    isDirectory: boolean,
  ): Uint8Array {
    const parts = (isDirectory ? name.slice(0, -1) : name).split("/");
    const isSafe = !name.includes("\0") &&
      parts.every((part) => part !== "" && part !== "..") &&
      (isDirectory || parts.at(-1) !== ".");
    if (!isSafe) {
      throw new TypeError(
        `'${name}' is no path of a ${
          isDirectory ? "directory" : "file"
        } that can be extracted below a directory`,
      );
    }
    const time = mtime.getTime();
    if (Number.isNaN(time)) {
      throw new TypeError(`The time of '${name}' is an invalid date`);
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
        `The stream of '${name}' did not give the ${length} bytes that were said`,
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
    const end = Math.ceil((members + 2 * BLOCK) / RECORD) * RECORD;
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
