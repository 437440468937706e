import { openRecords } from "../tree/open_records.ts";
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
import type { TFExample } from "../proto/example.ts";
import {
  type TFRecordOptions,
  TFRecordReader,
  type TFRecordReaderHandle,
} from "../read/tfrecord_reader.ts";

/** Options of opening a {@linkcode TFRecordDataset}. */
export interface TFRecordDatasetOptions extends TFRecordOptions, WaitOptions {
  /** Whether samples are examples; otherwise they are the bytes of records. Defaults to `true`. */
  readonly decode?: boolean | undefined;
}

/** {@linkcode TFRecordDatasetOptions} where samples are bytes. */
export interface RawTFRecordDatasetOptions extends TFRecordDatasetOptions {
  /** Samples are bytes. */
  readonly decode: false;
}

/** {@linkcode TFRecordDatasetOptions} where samples are not the examples themselves. */
export interface ProcessedTFRecordDatasetOptions<S, T>
  extends TFRecordDatasetOptions {
  /** The function that makes samples of examples, or of bytes; a module's, where the loader has workers. */
  readonly process: Imported<Process<S, T>>;
}

/**
 * The records of TFRecord files, as examples by the names of their features. Each batch is one batched read, from any
 * place, so that records are shuffled as those of all datasets, and not in a window.
 *
 * @typeParam T What one sample is: a {@linkcode TFExample}, unless `process` makes something of it.
 *
 * @example Labels of examples
 * ```ts
 * import { TFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await TFRecordDataset.open("test/golden/tfrecord/examples/pictures.tfrecord");
 * const [sample] = await dataset.get([2]);
 * assert.deepEqual(sample?.features["image/class/label"], BigInt64Array.of(2n));
 * ```
 */
export class TFRecordDataset<T = TFExample>
  extends ProcessedDataset<TFExample | Uint8Array<ArrayBuffer>, T> {
  readonly #reader: TFRecordReader;
  readonly #decode: boolean;

  /**
   * Makes the dataset; {@linkcode TFRecordDataset.open} opens one.
   *
   * @param reader What to read the records from; it is closed with the dataset.
   * @param decode Whether samples are examples, and not bytes.
   * @param process What makes samples of those.
   */
  constructor(
    reader: TFRecordReader,
    decode = true,
    process?: Process<TFExample | Uint8Array<ArrayBuffer>, T>,
  ) {
    super(process);
    this.#reader = reader;
    this.#decode = decode;
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010`.
   * @throws {FormatError} If one is compressed, or its first length is wrong; or if no record of any is whole.
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T, S extends TFExample | Uint8Array<ArrayBuffer> = TFExample>(
    location: string | URL,
    options: ProcessedTFRecordDatasetOptions<S, T>,
  ): Promise<TFRecordDataset<T>>;
  /** Opens files; samples are the bytes of records. */
  static open(
    location: string | URL,
    options: RawTFRecordDatasetOptions,
  ): Promise<TFRecordDataset<Uint8Array<ArrayBuffer>>>;
  /** Opens files; samples are examples. */
  static open(
    location: string | URL,
    options?: TFRecordDatasetOptions,
  ): Promise<TFRecordDataset>;
  static async open(
    location: string | URL,
    options: TFRecordDatasetOptions & {
      readonly process?: Imported<Process<never, unknown>>;
    } = {},
  ): Promise<TFRecordDataset<unknown>> {
    const process = options.process && await importedFunction(options.process);
    const reader = await TFRecordReader.open(location, options);
    const takesAny = process as
      | Process<TFExample | Uint8Array<ArrayBuffer>, unknown>
      | undefined;
    const dataset = new TFRecordDataset<unknown>(
      reader,
      options.decode,
      takesAny,
    );
    return openedFrom(dataset, openRecords, location, options);
  }

  /** Number of records that are whole. */
  override get length(): number {
    return this.#reader.length;
  }

  /** Paths of the files, in their order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** Has records fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices);
  }

  /** The file that a record lies in. */
  override fileOf(index: number): string | undefined {
    return hasSample(this, index) ? this.#reader.fileOf(index) : undefined;
  }

  /** The files again, over the same tables. */
  override [RECIPE](): Recipe {
    requireClass(this, TFRecordDataset);
    return {
      module: import.meta.url,
      name: "reopenTFRecordDataset",
      how: "call",
      args: [
        this.#reader.share(),
        storageArgument(this.#reader.storage, this.paths[0] ?? "the files"),
        this.#decode,
        this.portableProcess(),
      ],
    };
  }

  /** Closes the files. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** Reads the records of a batch. */
  protected override async readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<(TFExample | Uint8Array<ArrayBuffer>)[]> {
    const options = { memory, signal };
    return this.#decode
      ? await this.#reader.examples(indices, options)
      : await this.#reader.read(indices, options);
  }
}

/** Makes the dataset in another thread. */
export async function reopenTFRecordDataset<T>(
  handle: TFRecordReaderHandle,
  storage: Storage | undefined,
  decode: boolean,
  process: Process<TFExample | Uint8Array<ArrayBuffer>, T> | undefined,
): Promise<TFRecordDataset<T>> {
  const reader = await TFRecordReader.openShared(handle, { storage });
  return new TFRecordDataset(reader, decode, process);
}
