import { openMds } from "../tree/open_mds.ts";
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
  type MDSOptions,
  MDSReader,
  type MDSReaderHandle,
} from "../read/mds_reader.ts";
import type { MDSBytes, MDSSample } from "../read/stored_samples.ts";

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
export class MDSDataset<T = MDSSample> extends ProcessedDataset<MDSSample, T> {
  readonly #reader: MDSReader;
  readonly #decode: boolean;
  readonly #columns: readonly string[] | undefined;

  /**
   * Makes the dataset; {@linkcode MDSDataset.open} opens one.
   *
   * @param reader What to read the samples from; it is closed with the dataset.
   * @param options How values are given, and of which columns.
   * @param process What makes samples of those.
   */
  constructor(
    reader: MDSReader,
    { decode = true, columns }: Pick<MDSDatasetOptions, "decode" | "columns"> =
      {},
    process?: Process<MDSSample, T>,
  ) {
    super(process);
    this.#reader = reader;
    this.#decode = decode;
    this.#columns = columns;
  }

  /**
   * Opens a dataset.
   *
   * @param location Its directory, its `index.json`, or one of its shards.
   * @throws {FormatError} If it is damaged, or a shard is missing.
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
    const dataset = new MDSDataset<unknown>(reader, options, takesAny);
    return openedFrom(dataset, openMds, location, options);
  }

  /** Number of samples. */
  override get length(): number {
    return this.#reader.length;
  }

  /** Paths of the shards, in their order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** Has samples fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices);
  }

  /** The shard that a sample lies in. */
  override fileOf(index: number): string | undefined {
    return hasSample(this, index) ? this.#reader.fileOf(index) : undefined;
  }

  /** The shards again, each when it is first needed. */
  override [RECIPE](): Recipe {
    requireClass(this, MDSDataset);
    const { storage, path } = this.#reader;
    return {
      module: import.meta.url,
      name: "reopenMDSDataset",
      how: "call",
      args: [
        this.#reader.share(),
        storageArgument(storage, path),
        { decode: this.#decode, columns: this.#columns },
        this.portableProcess(),
      ],
    };
  }

  /** Closes the shards. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** Reads the samples of a batch. */
  protected override async readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<MDSSample[]> {
    const options = { memory, signal, columns: this.#columns };
    return this.#decode
      ? await this.#reader.samples(indices, options)
      : await this.#reader.read(indices, options);
  }
}

/** Makes the dataset in another thread. */
export function reopenMDSDataset<T>(
  handle: MDSReaderHandle,
  storage: Storage | undefined,
  options: Pick<MDSDatasetOptions, "decode" | "columns">,
  process: Process<MDSSample, T> | undefined,
): MDSDataset<T> {
  const reader = MDSReader.openShared(handle, { storage });
  return new MDSDataset(reader, options, process);
}
