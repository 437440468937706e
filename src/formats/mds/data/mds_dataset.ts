import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { type MDSOptions, MDSReader } from "../read/mds_reader.ts";
import type { MDSBytes, MDSSample } from "../read/mds_samples.ts";
import { openMds } from "../tree/open_mds.ts";

/** Options for opening an {@linkcode MDSDataset}. */
export interface MDSDatasetOptions extends MDSOptions, WaitOptions {
  /** Whether to decode values; otherwise they are bytes. Defaults to `true`. */
  readonly decode?: boolean | undefined;
  /** Columns to read; defaults to all. */
  readonly columns?: readonly string[] | undefined;
}

/** {@linkcode MDSDatasetOptions} for values as bytes. */
export interface RawMDSDatasetOptions extends MDSDatasetOptions {
  /** Values are bytes. */
  readonly decode: false;
}

/** {@linkcode MDSDatasetOptions} for processed samples. */
export interface ProcessedMDSDatasetOptions<S, T> extends MDSDatasetOptions {
  /** Function that makes samples from the values read. It must be imported from a module if the loader has workers. */
  readonly process: Imported<Process<S, T>>;
}

/**
 * Samples of a MosaicML Streaming dataset, keyed by column. Each batch is one batched read at any indices, so samples
 * are shuffled as in all other datasets, not shard by shard.
 *
 * @typeParam T Type of a sample: {@linkcode MDSSample}, unless `process` returns another.
 *
 * @example Labels of samples
 * ```ts
 * import { MDSDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await MDSDataset.open("test/golden/mds/plain/data", { columns: ["label"] });
 * const [sample] = await dataset.get([2]);
 * assert.equal(sample?.["label"], 2);
 * ```
 */
export class MDSDataset<T = MDSSample> extends SamplesDataset<MDSSample, T> {
  /**
   * Opens a dataset.
   *
   * @param location Its directory, its `index.json`, or one of its shards.
   * @throws {FormatError} If the index is damaged, or every shard is missing or damaged.
   * @throws {DataError} With code `not-portable` if the module of `process` does not export it.
   */
  static open<T, S extends MDSSample = MDSSample>(
    location: string | URL,
    options: ProcessedMDSDatasetOptions<S, T>,
  ): Promise<MDSDataset<T>>;
  /** Opens a dataset with values as bytes. */
  static open(
    location: string | URL,
    options: RawMDSDatasetOptions,
  ): Promise<MDSDataset<MDSBytes>>;
  /** Opens a dataset with decoded values. */
  static open(
    location: string | URL,
    options?: MDSDatasetOptions,
  ): Promise<MDSDataset>;
  static async open(
    location: string | URL,
    options: MDSDatasetOptions & {
      readonly process?: Imported<Process<never, unknown>>;
    } = {},
  ): Promise<MDSDataset<unknown>> {
    const process = options.process && await importedFunction(options.process);
    const reader = await MDSReader.open(location, options);
    const takesAny = process as Process<MDSSample, unknown> | undefined;
    const { decode, columns: fields } = options;
    const chosen = { decode, fields };
    const dataset = new MDSDataset<unknown>(reader, chosen, takesAny);
    return openedFrom(dataset, openMds, location, options);
  }

  /** This class. */
  protected override get libraryClass(): { readonly name: string } {
    return MDSDataset;
  }
}
