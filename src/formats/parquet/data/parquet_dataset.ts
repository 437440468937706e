import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { ParquetReader } from "../read/parquet_reader.ts";
import type { ParquetOptions, ParquetRow } from "../read/row_samples.ts";
import { openParquet } from "../tree/open_parquet.ts";

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
  extends SamplesDataset<ParquetRow, T> {
  /** Names of the columns that are read. */
  readonly columns: readonly string[];

  /**
   * Makes the dataset; {@linkcode ParquetDataset.open} opens one.
   *
   * @param reader What to read the rows from; it is closed with the dataset.
   * @param process What makes samples of those.
   */
  constructor(reader: ParquetReader, process?: Process<ParquetRow, T>) {
    super(reader, { decode: false }, process);
    this.columns = reader.columns;
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010.parquet`.
   * @throws {FormatError} If one is encrypted, or the only one is damaged, or all are.
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

  /** This class. */
  protected override get libraryClass(): { readonly name: string } {
    return ParquetDataset;
  }
}
