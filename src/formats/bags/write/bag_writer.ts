import { WriteError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { sampleBytes, type SampleData } from "../../../io/write/sample_data.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { findTarget } from "../../../io/write/write_target.ts";
import { indexPath } from "../bag/index_entries.ts";
import type { BagOutput } from "./bag_output.ts";
import {
  type Generation,
  requireGeneration,
} from "../dataset/dataset_names.ts";
import { IndexedBagOutput } from "./indexed_bag_output.ts";
import { TrailedBagOutput } from "./trailed_bag_output.ts";
import { Writer } from "./writer.ts";

/** Records up to this size are copied where they have to wait for their turn. */
const SMALL_RECORD = 1 << 16;

/** Options of {@linkcode BagWriter.open}. */
export interface BagWriterOptions {
  /** The form of the bag; 3 by default, the `.bag` and `.idx` of granular 0.22. */
  readonly generation?: Generation | undefined;
}

/**
 * Writes a bag, record by record and in constant memory (Python's `BagWriter`).
 *
 * In generation 3 it is written in its place, and a bag that is there is continued: behind its last
 * complete record, of which {@linkcode BagWriter.length} tells the number. Bytes that a process
 * that was killed wrote ahead of the index are compared with what is appended. Records are gathered
 * up to 1 MiB; what was gathered last is lost with the process, unless it is flushed.
 *
 * In generations 1 and 2 the bag appears under its name when it is closed, complete and on the
 * disk. Until then it is a hidden file beside it, which goes when the writer is given up. As in
 * Python, a bag that is there is not replaced.
 *
 * A write that fails (a full disk, a stream that throws, an aborted signal) leaves the writer at
 * the record before: it can be repeated.
 *
 * @example Write a bag, and continue it
 * ```ts
 * import { BagWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/words.bag`;
 * await using writer = await BagWriter.open(path);
 * await writer.append(new TextEncoder().encode("one"));
 * await writer.append(new TextEncoder().encode("two"));
 * await writer.close();
 *
 * await using again = await BagWriter.open(path);
 * assert.equal(again.length, 2);
 * await again.append(new TextEncoder().encode("three"));
 * await again.close();
 *
 * assert.equal(await Deno.readTextFile(path), "onetwothree");
 * ```
 */
export class BagWriter extends Writer {
  readonly #output: BagOutput;

  private constructor(path: string, output: BagOutput, file?: NewFile) {
    super(path, output.generation, output, {
      finish: () => output.finish(),
      *publish() {
        if (file === undefined) return;
        yield* requireAbsent(path); // as it was when it was opened
        yield* file.publish();
      },
      letGo() {
        output.close();
        file?.discard();
      },
    });
    this.#output = output;
  }

  static *#open(
    location: string | URL,
    { generation = 3 }: BagWriterOptions,
  ): Steps<BagWriter> {
    requireGeneration(generation);
    const path = localPath(location);
    if (indexPath(path) === path) {
      throw new WriteError(
        "bad-name",
        `Cannot write ${path}: a bag's name ends in .bag; in .idx ends that of an index`,
        { path },
      );
    }
    if (generation === 3) {
      return new BagWriter(path, yield* IndexedBagOutput.open(path));
    }
    yield* requireAbsent(path);
    const file = yield* NewFile.create(path);
    try {
      const output = yield* TrailedBagOutput.create(
        generation,
        file.file,
        path,
        path,
      );
      return new BagWriter(path, output, file);
    } catch (error) {
      file.discard();
      throw error;
    }
  }

  /**
   * Starts a bag, or in generation 3 continues one.
   *
   * @param path Of the `.bag`; the index of generation 3 is the `.idx` beside it.
   * @throws {WriteError} If it can't be written there, or another writer has it open (`busy`).
   * @throws {FormatError} If the index of a bag that is to be continued is damaged.
   */
  static open(
    path: string | URL,
    options: BagWriterOptions & WaitOptions = {},
  ): Promise<BagWriter> {
    return runAsync(BagWriter.#open(path, options), options.signal);
  }

  /** {@linkcode BagWriter.open} without waiting. */
  static openSync(
    path: string | URL,
    options: BagWriterOptions = {},
  ): BagWriter {
    return runSync(BagWriter.#open(path, options));
  }

  /**
   * Appends a record. Calls that are not awaited keep their order; if one fails, so do those that
   * were made after it without waiting.
   *
   * @param record Its bytes, not empty in generation 2. What is larger than 64 KiB must not
   * be changed before the promise is settled.
   * @returns The record's index.
   * @throws {WriteError} If the record is empty (`empty-record`), is not the one that was written
   * there by a process that was killed (`mismatch`), or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async append(record: SampleData, options: WaitOptions = {}): Promise<number> {
    options.signal?.throwIfAborted();
    this.requireOpen();
    let bytes = sampleBytes(record);
    if (bytes !== undefined && !this.busy && this.#addAtOnce(bytes)) {
      return this.length - 1;
    }
    if (bytes !== undefined && bytes.byteLength <= SMALL_RECORD) {
      bytes = bytes.slice();
    }
    return this.run(() => this.#add(bytes ?? record), options.signal);
  }

  /** {@linkcode BagWriter.append} without waiting, of what is in memory. */
  appendSync(record: ArrayBufferView | ArrayBufferLike): number {
    return this.runSync(() => this.#add(record));
  }

  #addAtOnce(bytes: Uint8Array): boolean {
    const output = this.#output;
    if (output.needsFlush || !output.appendAtOnce(bytes)) return false;
    output.keep();
    this.isUnsaved = true;
    return true;
  }

  *#add(record: SampleData): Steps<number> {
    const output = this.#output;
    if (output.needsFlush) yield* output.flush(false);
    try {
      yield* output.append(record);
    } catch (error) {
      output.takeBack();
      throw error;
    }
    output.keep();
    return this.length - 1;
  }
}

/** Generations 1 and 2 replace nothing; and an index beside it would be taken for the bag's. */
export function* requireAbsent(path: string): Steps<void> {
  for (const there of [path, indexPath(path)]) {
    const { found } = yield* findTarget(there);
    if (found === undefined) continue;
    throw new WriteError(
      "exists",
      there === path
        ? `Cannot write ${path}: it exists; remove it, or choose another name`
        : `Cannot write ${path}: ${there} exists, and would be taken for its index; remove it, or ` +
          `choose another name`,
      { path },
    );
  }
}
