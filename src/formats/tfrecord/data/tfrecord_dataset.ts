import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { TFExample } from "../proto/example.ts";
import {
  type TFRecordOptions,
  TFRecordReader,
} from "../read/tfrecord_reader.ts";
import { openRecords } from "../tree/open_records.ts";

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
  extends SamplesDataset<TFExample | Uint8Array<ArrayBuffer>, T> {
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
    const { decode } = options;
    const dataset = new TFRecordDataset<unknown>(reader, { decode }, takesAny);
    return openedFrom(dataset, openRecords, location, options);
  }

  /** This class. */
  protected override get libraryClass(): { readonly name: string } {
    return TFRecordDataset;
  }
}
