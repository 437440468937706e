import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { openFFRecord } from "../folder/packed_files.ts";
import { SAMPLES } from "../kinds.ts";
import { FFRecordReader } from "../read/reader.ts";
import {
  lastingLocation,
  type OpenOptions,
  type RecordLocation,
} from "../read/record_files.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Samples of FFRecord files (Python's `ffrecord.torch.Dataset`): each batch is one batched read.
 *
 * `process` makes the training samples: a function given when opening, or a method of a subclass, as in Python.
 *
 * @typeParam T One sample: its bytes, unless `process` converts them.
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
  extends SamplesDataset<Uint8Array<ArrayBuffer>, T> {
  /**
   * Creates the dataset; {@linkcode FFRecordDataset.open} opens one. Excludes samples that are lost from a truncated
   * file.
   *
   * @param reader Reads the samples; closed with the dataset.
   * @param process Converts bytes to samples.
   */
  constructor(
    reader: FFRecordReader,
    process?: Process<Uint8Array<ArrayBuffer>, T>,
  ) {
    super(reader.ofWhole, { decode: false }, process);
  }

  /**
   * Opens FFRecord files.
   *
   * @param location A file, a list of files, or a directory.
   * @param options `process`, and how to open the files.
   * @throws {FormatError} If a header is damaged.
   * @throws {DataError} With code `not-portable` if the module of `process` lacks the function.
   */
  static open<T>(
    this: typeof FFRecordDataset,
    location: RecordLocation,
    options: OpenOptions & WaitOptions & {
      /** Converts bytes to samples; must come from a module if the loader has workers. */
      readonly process: Imported<Process<Uint8Array<ArrayBuffer>, T>>;
    },
  ): Promise<FFRecordDataset<T>>;
  /** Opens FFRecord files; samples are bytes. */
  static open(
    this: typeof FFRecordDataset,
    location: RecordLocation,
    options?: OpenOptions & WaitOptions,
  ): Promise<FFRecordDataset>;
  /** Opens FFRecord files as a subclass whose constructor takes only a reader. */
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

  /** The library's class, also for subclasses. */
  protected override get libraryClass(): { readonly name: string } {
    return FFRecordDataset;
  }
}
