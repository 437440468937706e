import { openFFRecord } from "../folder/packed_files.ts";
import { SAMPLES } from "../kinds.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import { FFRecordReader, type ReaderHandle } from "../read/reader.ts";
import {
  lastingLocation,
  type OpenOptions,
  type RecordLocation,
} from "../read/record_files.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { GetOptions } from "../../../data/dataset.ts";
import {
  type Imported,
  importedFunction,
  RECIPE,
  type Recipe,
  storageArgument,
} from "../../../data/recipe.ts";
import { hasSample } from "../../../data/datasets/has_sample.ts";
import {
  type Process,
  ProcessedDataset,
  requireClass,
} from "../../../data/datasets/process.ts";

/** The bytes of a sample. */
type Bytes = Uint8Array<ArrayBuffer>;

/** How to open an {@linkcode FFRecordDataset} of samples that are not bytes. */
export interface FFRecordDatasetOptions<T> extends OpenOptions, WaitOptions {
  /** What makes samples of bytes; a module's, where the loader has workers. */
  readonly process: Imported<Process<Uint8Array<ArrayBuffer>, T>>;
}

/**
 * The samples of FFRecord files (Python's `ffrecord.torch.Dataset`): each batch is one batched read.
 *
 * What is trained on is made by `process`: a function that is given when opening, or the method of a
 * class that extends this one, as in Python.
 *
 * @typeParam T What one sample is: its bytes, unless `process` makes something of them.
 *
 * @example Read batches
 * ```ts
 * import { FFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * const path = "test/golden/ffrecord/plain_many/sample_92.ffr";
 * using dataset = await FFRecordDataset.open(path);
 * const samples = await dataset.get([3, 4, 1, 0]);
 * assert.deepEqual(samples[3], (await dataset.get([0]))[0]);
 *
 * using lengths = await FFRecordDataset.open(path, {
 *   process: (samples) => samples.map((bytes) => bytes.length),
 * });
 * assert.deepEqual(await lengths.get([3, 4]), [samples[0]?.length, samples[1]?.length]);
 * ```
 *
 * @example Extend it
 * ```ts
 * import { FFRecordDataset } from "@recordfs/recordfs/data";
 * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
 *
 * class CustomDataset extends FFRecordDataset<{ index: number; text: string }> {
 *   constructor(path: string) {
 *     super(FFRecordReader.openSync(path));
 *   }
 *
 *   protected override process(indices: readonly number[], data: Uint8Array[]) {
 *     return data.map((bytes, i) => ({ index: indices[i]!, text: new TextDecoder().decode(bytes) }));
 *   }
 * }
 *
 * using dataset = new CustomDataset("test/golden/ffrecord/plain_many/sample_92.ffr");
 * for (const { index, text } of await dataset.get([7, 0])) console.log(index, text.length);
 * ```
 */
export class FFRecordDataset<T = Uint8Array<ArrayBuffer>>
  extends ProcessedDataset<Uint8Array<ArrayBuffer>, T> {
  readonly #reader: FFRecordReader;

  /**
   * Makes the dataset; {@linkcode FFRecordDataset.open} opens one.
   *
   * @param reader What to read the samples from; it is closed with the dataset.
   * @param process What makes samples of bytes.
   */
  constructor(
    reader: FFRecordReader,
    process?: Process<Uint8Array<ArrayBuffer>, T>,
  ) {
    super(process);
    this.#reader = reader;
  }

  /**
   * Opens FFRecord files.
   *
   * @param location A file, a list of files, or a directory.
   * @param options What makes samples of bytes, and how the files are opened.
   * @throws {FormatError} If a header is damaged.
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T>(
    this: typeof FFRecordDataset,
    location: RecordLocation,
    options: FFRecordDatasetOptions<T>,
  ): Promise<FFRecordDataset<T>>;
  /** Opens FFRecord files; samples are bytes. */
  static open(
    this: typeof FFRecordDataset,
    location: RecordLocation,
    options?: OpenOptions & WaitOptions,
  ): Promise<FFRecordDataset>;
  /** Opens FFRecord files as a class that extends this one, and is made of a reader alone. */
  static open<D extends FFRecordDataset<unknown>>(
    this: new (reader: FFRecordReader) => D,
    location: RecordLocation,
    options?: OpenOptions & WaitOptions,
  ): Promise<D>;
  static async open(
    location: RecordLocation,
    options: OpenOptions & WaitOptions & {
      readonly process?: Imported<Process<Bytes, unknown>>;
    } = {},
  ): Promise<FFRecordDataset<unknown>> {
    const process = options.process && await importedFunction(options.process);
    const reader = await FFRecordReader.open(
      lastingLocation(location, options),
      options,
    );
    const dataset = new this<unknown>(reader, process);
    const isOne = typeof location === "string" || location instanceof URL;
    if (!isOne) return dataset; // of no one container
    return openedFrom(dataset, openFFRecord, location, options, SAMPLES);
  }

  /** Number of samples; those that a file was cut before are none. */
  override get length(): number {
    return this.#reader.whole.length;
  }

  /** Paths of the files, in reading order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** Has samples fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(this.#all(indices));
  }

  /** The `.ffr` file that a sample lies in. */
  override fileOf(index: number): string | undefined {
    return hasSample(this, index)
      ? this.#reader.fileOf(this.#reader.whole.indexOf(index))
      : undefined;
  }

  /** The files again, over the same tables. */
  override [RECIPE](): Recipe {
    requireClass(this, FFRecordDataset);
    return {
      module: import.meta.url,
      name: "reopenFFRecordDataset",
      how: "call",
      args: [
        this.#reader.share(),
        storageArgument(this.#reader.storage, this.paths[0]!),
        this.portableProcess(),
      ],
    };
  }

  /** Closes the files. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** Reads the bytes of a batch. */
  protected override readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#reader.read(this.#all(indices), { memory, signal });
  }

  /** Indices among all samples of the files. */
  #all(indices: readonly number[]): readonly number[] {
    const { whole } = this.#reader;
    return whole.cut.length === 0
      ? indices
      : indices.map((index) => whole.indexOf(index));
  }
}

/** Makes the dataset in another thread. */
export async function reopenFFRecordDataset<T>(
  handle: ReaderHandle,
  storage: Storage | undefined,
  process: Process<Bytes, T> | undefined,
): Promise<FFRecordDataset<T>> {
  const reader = await FFRecordReader.openShared(handle, { storage });
  return new FFRecordDataset(reader, process);
}
