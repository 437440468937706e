import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { ParquetReader } from "../read/parquet_reader.ts";
import type { ParquetOptions, ParquetRow } from "../read/row_samples.ts";
import { openParquet } from "../tree/open_parquet.ts";

/** Options of {@linkcode ParquetDataset.open}. */
export interface ParquetDatasetOptions extends ParquetOptions, WaitOptions {}

/** {@linkcode ParquetDatasetOptions} with a function that transforms rows. */
export interface ProcessedParquetDatasetOptions<T>
  extends ParquetDatasetOptions {
  /** Transforms a row. Must be a module's export if the loader has workers. */
  readonly process: Imported<Process<ParquetRow, T>>;
}

/**
 * Rows of Parquet files. Rows of a batch in the same pages are decoded together, and pages are cached for the next
 * batches, up to `cacheSize`: shuffle by blocks if pages hold many rows.
 *
 * @typeParam T Type of a sample: a {@linkcode ParquetRow}, or the result of `process`.
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
   * Creates the dataset from a reader; use {@linkcode ParquetDataset.open} to open one.
   *
   * @param reader Source of the rows; closed with the dataset.
   * @param process Transforms rows.
   */
  constructor(reader: ParquetReader, process?: Process<ParquetRow, T>) {
    super(reader, { decode: false }, process);
    this.columns = reader.columns;
  }

  /**
   * Opens files.
   *
   * @param location A file, a directory of files, or a pattern such as `train-?????-of-00010.parquet`.
   * @throws {FormatError} If a file is encrypted, or all are damaged.
   * @throws {DataError} With code `not-portable` if the module lacks the export for `process`.
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
