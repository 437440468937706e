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
import { indexPath } from "../bag/bag.ts";
import type { BagOutput } from "./bag_output.ts";
import { requireGeneration } from "../dataset/dataset_names.ts";
import type { DatasetWriterOptions } from "./dataset_target.ts";
import { IndexedBagOutput } from "./indexed_bag_output.ts";
import { TrailedBagOutput } from "./trailed_bag_output.ts";
import { Writer } from "./writer.ts";

/** Largest record that is copied if it must wait in the queue. */
const SMALL_RECORD = 1 << 16;

/**
 * Writes a bag, record by record and in constant memory (Python's `BagWriter`).
 *
 * In generation 3 the bag is written in place. An existing bag is continued after its last complete record;
 * {@linkcode BagWriter.length} is the number of records it has. Bytes that a killed process wrote ahead of the index
 * are compared with appended records. Up to 1 MiB of records is buffered; buffered records are lost with the process,
 * unless they are flushed.
 *
 * In generations 1 and 2 the bag appears under its name when the writer is closed, complete and on disk. Until then it
 * is a hidden file next to it, which is removed if the writer is aborted. As in Python, an existing bag is not
 * replaced.
 *
 * A failed write (a full disk, a stream that throws, an aborted signal) leaves the writer at the previous record: it
 * can be retried.
 *
 * @example Write a bag, and continue it
 * ```ts
 * import { BagWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const path = `${await Deno.makeTempDir()}/words.bag`;
 * await using writer = await BagWriter.open(path);
 * await writer.write(new TextEncoder().encode("one"));
 * await writer.write(new TextEncoder().encode("two"));
 * await writer.close();
 *
 * await using again = await BagWriter.open(path);
 * assert.equal(again.length, 2);
 * await again.write(new TextEncoder().encode("three"));
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
        yield* requireAbsent(path); // may have been created since the writer was opened
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
    { generation = 3 }: Pick<DatasetWriterOptions, "generation">,
  ): Steps<BagWriter> {
    requireGeneration(generation);
    const path = localPath(location);
    if (indexPath(path) === path) {
      throw new WriteError(
        "bad-name",
        `Cannot write ${path}: the name of a bag must end in .bag, and that ` +
          "of an index in .idx",
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
   * Starts a bag; in generation 3, continues an existing one.
   *
   * @param path Path of the `.bag`; the index of generation 3 is the `.idx` next to it.
   * @throws {WriteError} If it can't be written there, or another writer has it open (`busy`).
   * @throws {FormatError} If the index of the bag to continue is damaged.
   */
  static open(
    path: string | URL,
    options: Pick<DatasetWriterOptions, "generation"> & WaitOptions = {},
  ): Promise<BagWriter> {
    return runAsync(BagWriter.#open(path, options), options.signal);
  }

  /** Synchronous {@linkcode BagWriter.open}. */
  static openSync(
    path: string | URL,
    options: Pick<DatasetWriterOptions, "generation"> = {},
  ): BagWriter {
    return runSync(BagWriter.#open(path, options));
  }

  /**
   * Appends a record. Calls that are not awaited keep their order; if one fails, so do those made after it without
   * awaiting it.
   *
   * @param record Bytes of the record, not empty in generation 2. If larger than 64 KiB, they must not be changed
   * before the promise settles.
   * @returns Index of the record.
   * @throws {WriteError} If the record is empty (`empty-record`), differs from what a killed process wrote there
   * (`mismatch`), or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong with the arguments rejects, too
  async write(record: SampleData, options: WaitOptions = {}): Promise<number> {
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

  /** Synchronous {@linkcode BagWriter.write}, for records in memory. */
  writeSync(record: ArrayBufferView | ArrayBufferLike): number {
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

/** Requires that neither bag nor `.idx` exists: nothing is replaced, and the `.idx` would be taken for the bag's. */
export function* requireAbsent(path: string): Steps<void> {
  for (const there of [path, indexPath(path)]) {
    const { found } = yield* findTarget(there);
    if (found === undefined) continue;
    throw new WriteError(
      "exists",
      there === path
        ? `Cannot write ${path}: it exists. Remove it, or choose another name`
        : `Cannot write ${path}: ${there} exists, and would be taken for its ` +
          "index. Remove it, or choose another name",
      { path },
    );
  }
}
