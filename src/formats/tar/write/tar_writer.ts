import { WriteError } from "../../../errors.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { encodeName } from "../../../names.ts";
import { BLOCK, memberHeader, padded } from "../../../tar_header.ts";

/** What is gathered before it is written. */
const PIECE = 1 << 20;

/** A tar ends in two blocks of zeros, and is filled up to records of twenty blocks. */
const RECORD = 20 * BLOCK;

/** Options of {@linkcode TarWriter.write}. */
export interface TarWriteOptions extends WaitOptions {
  /** When the file was modified; when the writer was opened, unless given. */
  readonly mtime?: Date | undefined;
  /** Of a stream: how many bytes it will give. */
  readonly size?: number | undefined;
}

/**
 * Writes a tar, member by member, in the form of GNU tar, which all programs read. It appears when it is closed, or
 * not at all.
 *
 * @example Samples of WebDataset
 * ```ts
 * import { TarReader, TarWriter } from "@recordfs/recordfs/tar";
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
 * using reader = await TarReader.open(path);
 * assert.equal(reader.sampleCount, 3);
 * ```
 */
export class TarWriter implements AsyncDisposable {
  readonly #output: NewFile;
  readonly #opened = Date.now();
  readonly #gathered = new Uint8Array(PIECE);
  #fill = 0;
  #offset = 0;
  #failed: unknown;
  #closed = false;

  private constructor(output: NewFile) {
    this.#output = output;
  }

  /**
   * Starts a tar. A file that is there stays as it is until {@linkcode TarWriter.close}.
   *
   * @throws {WriteError} If it can't be written.
   */
  static async open(
    path: string,
    options: WaitOptions = {},
  ): Promise<TarWriter> {
    return new TarWriter(await runAsync(NewFile.create(path), options.signal));
  }

  /** Bytes of the members so far. */
  get size(): number {
    return this.#offset + this.#fill;
  }

  /**
   * Adds a file.
   *
   * @param name Its path, as it is to be extracted.
   * @param data Its bytes, or a stream of them, whose size the options say.
   * @throws {TypeError} If the path is none that is extracted below a directory, or a stream gives another size.
   * @throws {WriteError} If it can't be written.
   */
  async write(
    name: string,
    data: Uint8Array | AsyncIterable<Uint8Array>,
    { mtime, size, signal }: TarWriteOptions = {},
  ): Promise<void> {
    const isWhole = data instanceof Uint8Array;
    const length = isWhole ? data.length : size;
    if (length === undefined || !Number.isSafeInteger(length) || length < 0) {
      throw new TypeError(
        `The size of '${name}' is not given: a tar says it before the bytes`,
      );
    }
    this.#requireOpen();
    await this.#guard(async () => {
      await this.#header(name, length, mtime, false, signal);
      let left = length;
      for await (const piece of isWhole ? [data] : data) {
        left -= piece.length;
        if (left < 0) break;
        await runAsync(this.#put(piece), signal);
      }
      if (left !== 0) {
        throw new TypeError(
          `The stream of '${name}' did not give the ${length} bytes that were said`,
        );
      }
      const rest = new Uint8Array(padded(length) - length);
      await runAsync(this.#put(rest), signal);
    });
  }

  /** Adds a directory, which needs that only if nothing is in it. */
  async makeDirectory(
    name: string,
    { mtime, signal }: Omit<TarWriteOptions, "size"> = {},
  ): Promise<void> {
    this.#requireOpen();
    const path = name.endsWith("/") ? name : `${name}/`;
    await this.#guard(() => this.#header(path, 0, mtime, true, signal));
  }

  /**
   * Ends the tar, which has its name then.
   *
   * @throws {WriteError} If it can't be written.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    if (this.#closed) return;
    this.#requireOpen();
    const end = Math.ceil((this.size + 2 * BLOCK) / RECORD) * RECORD;
    await this.#guard(async () => {
      await runAsync(
        this.#put(new Uint8Array(end - this.size)),
        options.signal,
      );
      await runAsync(this.#flush(), options.signal);
      await runAsync(this.#output.file.sync(), options.signal);
      await runAsync(this.#output.publish());
    });
    this.#closed = true;
  }

  /** Gives up what is not closed. */
  [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) this.#output.discard();
    this.#closed = true;
    return Promise.resolve();
  }

  async #header(
    name: string,
    size: number,
    mtime: Date | undefined,
    isDirectory: boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const parts = name.replace(/\/$/, "").split("/");
    const isSafe = !name.includes("\0") &&
      parts.every((part) => part !== "" && part !== "..");
    if (!isSafe) {
      throw new TypeError(
        `'${name}' is no path that can be extracted below a directory`,
      );
    }
    const member = {
      name: encodeName(name),
      size,
      mtime: mtime?.getTime() ?? this.#opened,
    };
    await runAsync(this.#put(memberHeader(member, isDirectory)), signal);
  }

  *#put(bytes: Uint8Array): Steps<void> {
    if (this.#fill + bytes.length > PIECE) yield* this.#flush();
    if (bytes.length > PIECE) {
      yield* this.#output.file.writeAt(bytes, this.#offset);
      this.#offset += bytes.length;
      return;
    }
    this.#gathered.set(bytes, this.#fill);
    this.#fill += bytes.length;
  }

  *#flush(): Steps<void> {
    if (this.#fill === 0) return;
    const bytes = this.#gathered.subarray(0, this.#fill);
    yield* this.#output.file.writeAt(bytes, this.#offset);
    this.#offset += this.#fill;
    this.#fill = 0;
  }

  /** What failed half-way is no tar any more. */
  async #guard(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#failed ??= error;
      throw error;
    }
  }

  #requireOpen(): void {
    const { path } = this.#output;
    if (this.#closed) {
      throw new WriteError(
        "closed",
        `Cannot write ${path}: it has been closed`,
        { path },
      );
    }
    if (this.#failed === undefined) return;
    throw new WriteError(
      "failed",
      `Cannot write ${path}: a member before could not be written`,
      { path, cause: this.#failed },
    );
  }
}
