import { warnOfAll } from "../../../base/message_text.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  type FieldOptions,
  reopenSamples,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import { parquetPaths } from "./parquet_files.ts";
import {
  openRowSamples,
  type ParquetOptions,
  type ParquetRow,
  type RowSamples,
} from "./row_samples.ts";
import { differenceOf } from "./shared_columns.ts";

/**
 * Reads rows of a Parquet file, or of several files as one: those in a directory, or those that a pattern such as
 * `train-?????-of-00010.parquet` names. Nearby reads share decoded pages. The caller owns the bytes in rows.
 *
 * @example Read rows
 * ```ts
 * import { ParquetReader } from "@recordfs/recordfs/parquet";
 * import assert from "node:assert/strict";
 *
 * using reader = await ParquetReader.open("test/golden/parquet/pictures/pictures.parquet");
 * const { label, image } = await reader.read(2);
 * assert.equal(label, 2n);
 * console.log(image); // { bytes: Uint8Array, path: "picture_2.png" }
 *
 * for await (const rows of reader.batches({ batch: 4 })) console.log(rows.length);
 * ```
 */
export class ParquetReader
  extends SamplesReader<ParquetRow, ParquetRow, FieldOptions> {
  readonly #samples: RowSamples;

  /** @ignore Use `open`. */
  constructor(samples: RowSamples) {
    super(samples);
    this.#samples = samples;
  }

  /**
   * Opens files.
   *
   * @param location A file, a directory of files, or a pattern such as `train-?????-of-00010.parquet`.
   * @throws {FormatError} If a file is encrypted, or all are damaged.
   * @throws {RecordfsError} With code `no-column` if one of `columns` is in no file.
   */
  static async open(
    location: string | URL,
    options: ParquetOptions & WaitOptions = {},
  ): Promise<ParquetReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /**
   * Synchronous {@linkcode ParquetReader.open}. Requires that the decoder is already loaded, as after any file was
   * opened.
   *
   * @throws {RecordfsError} With code `must-wait` if it is not.
   */
  static openSync(
    location: string | URL,
    options: ParquetOptions = {},
  ): ParquetReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the files of another thread's reader, sharing its tables.
   *
   * @param handle Result of `share`.
   * @throws {FormatError} If a file has changed.
   */
  static async openShared(
    handle: SamplesHandle,
    options: Pick<ParquetOptions, "storage"> & WaitOptions = {},
  ): Promise<ParquetReader> {
    const samples = await reopenSamples(handle, options);
    return new ParquetReader(samples as RowSamples);
  }

  /** Names of the columns that are read. */
  get columns(): readonly string[] {
    return this.#samples.columns.map(({ name }) => name);
  }
}

function* openReader(
  location: string | URL,
  options: ParquetOptions,
): Steps<ParquetReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* parquetPaths(path, storage);
  const samples = yield* openRowSamples(paths, storage, options);
  const { shards, lost } = samples.shards;
  const difference = options.columns === undefined
    ? differenceOf(shards, samples.fields)
    : undefined;
  const odd = noteLines(lostNotes(lost));
  if (difference !== undefined) odd.push(difference);
  warnOfAll(odd, options.onWarning);
  return new ParquetReader(samples);
}
