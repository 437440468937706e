import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { type MDSOptions, MDSReader } from "../read/mds_reader.ts";
import type { MDSBytes, MDSSample } from "../read/mds_samples.ts";
import { openMds } from "../tree/open_mds.ts";

/** Options of opening a {@linkcode MDSDataset}. */
export interface MDSDatasetOptions extends MDSOptions, WaitOptions {
  /** Whether values are decoded; otherwise they are bytes. Defaults to `true`. */
  readonly decode?: boolean | undefined;
  /** The columns that samples have; all, unless given. */
  readonly columns?: readonly string[] | undefined;
}

/** {@linkcode MDSDatasetOptions} where values are bytes. */
export interface RawMDSDatasetOptions extends MDSDatasetOptions {
  /** Values are bytes. */
  readonly decode: false;
}

/** {@linkcode MDSDatasetOptions} where samples are not what is read. */
export interface ProcessedMDSDatasetOptions<S, T> extends MDSDatasetOptions {
  /** The function that makes samples of what is read; a module's, where the loader has workers. */
  readonly process: Imported<Process<S, T>>;
}

/**
 * The samples of a dataset of MosaicML Streaming, by the names of their columns. Each batch is one batched read, from any
 * place, so that samples are shuffled as those of all datasets, and not shard by shard.
 *
 * @typeParam T What one sample is: a {@linkcode MDSSample}, unless `process` makes something of it.
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
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T, S extends MDSSample = MDSSample>(
    location: string | URL,
    options: ProcessedMDSDatasetOptions<S, T>,
  ): Promise<MDSDataset<T>>;
  /** Opens a dataset; values are bytes. */
  static open(
    location: string | URL,
    options: RawMDSDatasetOptions,
  ): Promise<MDSDataset<MDSBytes>>;
  /** Opens a dataset; values are decoded. */
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
