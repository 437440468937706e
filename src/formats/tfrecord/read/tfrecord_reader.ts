import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { BatchReadOptions } from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import type { TFExample } from "../proto/example.ts";
import { recordPaths } from "./record_paths.ts";
import { openRecordSamples, type RecordSamples } from "./record_samples.ts";

/** How a {@linkcode TFRecordReader} opens its files. */
export type TFRecordOptions = Pick<
  ContainerOptions,
  "checkData" | "onWarning" | "remote" | "storage"
>;

/**
 * Reads the records of a TFRecord file, or of several as one: shards in a directory, or those that a pattern as
 * `train-?????-of-00010` names. Any record is read without those before it, and compared with its checksum. Of a file
 * that was cut, the whole records are read, and the warning names the first that is not.
 *
 * @example Read records and examples
 * ```ts
 * import { TFRecordReader } from "@recordfs/recordfs/tfrecord";
 * import assert from "node:assert/strict";
 *
 * using reader = await TFRecordReader.open("test/golden/tfrecord/examples/pictures.tfrecord");
 * const { features } = await reader.example(2);
 * assert.deepEqual(features["image/class/label"], BigInt64Array.of(2n));
 *
 * for await (const records of reader.batches({ batch: 4 })) console.log(records.length);
 * ```
 */
export class TFRecordReader
  extends SamplesReader<Uint8Array<ArrayBuffer>, TFExample> {
  readonly #samples: RecordSamples;

  /** @ignore Readers are made by `open`. */
  constructor(samples: RecordSamples) {
    super(samples);
    this.#samples = samples;
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010`.
   * @throws {FormatError} If one is compressed, or its first length is wrong; or if no record of any is whole.
   */
  static async open(
    location: string | URL,
    options: TFRecordOptions & WaitOptions = {},
  ): Promise<TFRecordReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /**
   * {@linkcode TFRecordReader.open} without waiting: what takes checksums has to be loaded by then, as it is when any
   * file was opened before, unless `checkData` is `false`.
   *
   * @throws {RecordfsError} With code `must-wait` if it is not.
   */
  static openSync(
    location: string | URL,
    options: TFRecordOptions = {},
  ): TFRecordReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the files of a reader in another thread, over the tables that it has read.
   *
   * @param handle What `share` gave.
   * @throws {FormatError} If a file is not the same any more.
   */
  static async openShared(
    handle: SamplesHandle,
    options: Pick<TFRecordOptions, "storage"> & WaitOptions = {},
  ): Promise<TFRecordReader> {
    const samples = await reopenSamples(handle, options);
    return new TFRecordReader(samples as RecordSamples);
  }

  /** Whether records are examples, as the first one of each file says. */
  get hasExamples(): boolean {
    return this.#samples.fields === undefined;
  }

  /**
   * Views of records in memory maps of their files: nothing is copied. Linux only, and it needs `--allow-ffi`.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails: so for files that
   * nobody changes. The `buffer` of a view is the whole file: it must not be transferred to another thread, and a copy,
   * made with `slice()`, is what is posted. Views stay valid after `close()`.
   *
   * @returns The bytes; compared with their checksums at each call, unless `checkData` is `false`.
   * @throws {IndexError} If there is no such record.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped: `read` works there.
   */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    return this.#samples.views(this.required(indices));
  }

  /**
   * Reads a record as an `Example` or `SequenceExample`.
   *
   * @throws {FormatError} With code `bad-value` if it is none.
   */
  async example(
    index: number,
    options?: BatchReadOptions,
  ): Promise<TFExample> {
    const [example] = await this.examples([index], options);
    return example!;
  }

  /** Reads a batch of records as examples. Their values are views into the records. */
  examples(
    indices: Iterable<number>,
    options?: BatchReadOptions,
  ): Promise<TFExample[]> {
    return this.decoded(indices, options);
  }
}

function* openReader(
  location: string | URL,
  options: TFRecordOptions,
): Steps<TFRecordReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* recordPaths(path, storage);
  const samples = yield* openRecordSamples(paths, storage, options);
  warnOfAll(noteLines(samples.shards.notes()), options.onWarning);
  return new TFRecordReader(samples);
}
