import { openParquet } from "../tree/open_parquet.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import type { GetOptions } from "../../../data/dataset.ts";
import { hasSample } from "../../../data/datasets/has_sample.ts";
import {
  type Process,
  ProcessedDataset,
  requireClass,
} from "../../../data/datasets/process.ts";
import {
  type Imported,
  importedFunction,
  RECIPE,
  type Recipe,
  storageArgument,
} from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  type ParquetOptions,
  ParquetReader,
  type ParquetReaderHandle,
  type ParquetRow,
} from "../read/parquet_reader.ts";

/** Options of opening a {@linkcode ParquetDataset}. */
export interface ParquetDatasetOptions extends ParquetOptions, WaitOptions {}

/** {@linkcode ParquetDatasetOptions} where samples are not the rows themselves. */
export interface ProcessedParquetDatasetOptions<T>
  extends ParquetDatasetOptions {
  /** The function that makes samples of rows; a module's, where the loader has workers. */
  readonly process: Imported<Process<ParquetRow, T>>;
}

/**
 * The rows of Parquet files. Those of a batch that lie in the same pages are decoded together, and pages are kept for the
 * next batches up to `cacheSize`: shuffle by blocks where pages hold many rows.
 *
 * @typeParam T What one sample is: a {@linkcode ParquetRow}, unless `process` makes something of it.
 *
 * @example Labels of rows
 * ```ts
 * import { ParquetDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await ParquetDataset.open(
 *   "test/golden/parquet/pictures/pictures.parquet",
 *   { columns: ["label"] },
 * );
 * const [sample] = await dataset.get([2]);
 * assert.equal(sample?.["label"], 2n);
 * ```
 */
export class ParquetDataset<T = ParquetRow>
  extends ProcessedDataset<ParquetRow, T> {
  readonly #reader: ParquetReader;

  /**
   * Makes the dataset; {@linkcode ParquetDataset.open} opens one.
   *
   * @param reader What to read the rows from; it is closed with the dataset.
   * @param process What makes samples of those.
   */
  constructor(reader: ParquetReader, process?: Process<ParquetRow, T>) {
    super(process);
    this.#reader = reader;
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010.parquet`.
   * @throws {FormatError} If one is damaged or encrypted.
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T>(
    location: string | URL,
    options: ProcessedParquetDatasetOptions<T>,
  ): Promise<ParquetDataset<T>>;
  /** Opens files; samples are rows. */
  static open(
    location: string | URL,
    options?: ParquetDatasetOptions,
  ): Promise<ParquetDataset>;
  static async open(
    location: string | URL,
    options: ParquetDatasetOptions & {
      readonly process?: Imported<Process<ParquetRow, unknown>>;
    } = {},
  ): Promise<ParquetDataset<unknown>> {
    const process = options.process && await importedFunction(options.process);
    const reader = await ParquetReader.open(location, options);
    const dataset = new ParquetDataset<unknown>(reader, process);
    return openedFrom(dataset, openParquet, location, options);
  }

  /** Number of rows. */
  override get length(): number {
    return this.#reader.length;
  }

  /** Names of the columns that are read. */
  get columns(): readonly string[] {
    return this.#reader.columns;
  }

  /** Paths of the files, in their order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** Has pages fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices);
  }

  /** The file that a row lies in. */
  override fileOf(index: number): string | undefined {
    return hasSample(this, index) ? this.#reader.fileOf(index) : undefined;
  }

  /** The files again, over the same tables. */
  override [RECIPE](): Recipe {
    requireClass(this, ParquetDataset);
    return {
      module: import.meta.url,
      name: "reopenParquetDataset",
      how: "call",
      args: [
        this.#reader.share(),
        storageArgument(this.#reader.storage, this.paths[0] ?? "the files"),
        this.portableProcess(),
      ],
    };
  }

  /** Closes the files. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** Reads the rows of a batch. */
  protected override async readBatch(
    indices: readonly number[],
    { signal }: GetOptions,
  ): Promise<ParquetRow[]> {
    return await this.#reader.read(indices, { signal });
  }
}

/** Makes the dataset in another thread. */
export async function reopenParquetDataset<T>(
  handle: ParquetReaderHandle,
  storage: Storage | undefined,
  process: Process<ParquetRow, T> | undefined,
): Promise<ParquetDataset<T>> {
  const reader = await ParquetReader.openShared(handle, { storage });
  return new ParquetDataset(reader, process);
}
