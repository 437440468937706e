import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import {
  type Imported,
  importedFunction,
  type ImportedName,
  importedValue,
} from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import type { Spec } from "../dataset/spec.ts";
import type { ShardedDatasetOptions } from "../read/dataset_options.ts";
import type { DatasetReader } from "../read/dataset_reader.ts";
import type { Datapoint, Mask } from "../read/selection.ts";
import { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";
import { openBags } from "../tree/open_bags.ts";
import type { Decoders } from "../types/shipped.ts";

/** Options of opening a {@linkcode BagDataset}. */
export interface BagOpenOptions
  extends Omit<ShardedDatasetOptions, "decoders">, WaitOptions {
  /** The parts of each datapoint to read; all of it unless given. */
  readonly mask?: Mask | undefined;
  /**
   * What makes values of records, by types, or the module that exports it, which a loader with workers
   * needs: unless given, those of the types that Bags and Granular ship. With `null`, values are bytes.
   */
  readonly decoders?: Decoders | URL | ImportedName | null | undefined;
}

/** {@linkcode BagOpenOptions} where samples are not the datapoints themselves. */
export interface BagDatasetOptions<T> extends BagOpenOptions {
  /** The function that makes samples of datapoints; a module's, where the loader has workers. */
  readonly process: Imported<Process<Datapoint, T>>;
}

/**
 * The datapoints of a dataset of Bags or Granular, of any generation, sharded or not: each batch is one
 * batched read, of all keys and shards together.
 *
 * @typeParam T What one sample is: a datapoint, unless `process` makes something of it.
 *
 * @example Two keys of each datapoint
 * ```ts
 * import { BagDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await BagDataset.open("test/golden/granular3/sharded/data", {
 *   mask: ["caption"],
 *   process: (datapoints, indices) =>
 *     datapoints.map(({ caption }, i) => ({ index: indices[i]!, caption })),
 * });
 * const [last, first] = await dataset.get([dataset.length - 1, 0]);
 * assert.equal(last?.index, dataset.length - 1);
 * console.log(first?.caption);
 * ```
 */
export class BagDataset<T = Datapoint> extends SamplesDataset<Datapoint, T> {
  /** The types of the keys. */
  readonly spec: Spec;

  /**
   * Makes the dataset; {@linkcode BagDataset.open} opens one.
   *
   * @param reader What to read the datapoints from; it is closed with the dataset.
   * @param mask What to read of each.
   * @param process What makes samples of datapoints.
   */
  constructor(
    reader: DatasetReader,
    mask?: Mask,
    process?: Process<Datapoint, T>,
  ) {
    super(new SamplesReader(reader.opened.masked(mask)), {}, process);
    this.spec = reader.spec;
  }

  /**
   * Opens a dataset.
   *
   * @param path Where its `spec.json` lies, or its shards `000000`, `000001`, …
   * @param options What to read, what makes samples of it, and how the dataset is opened.
   * @throws {FormatError} If a shard is missing, or the only one or all are damaged.
   * @throws {RangeError} If `shardStart` or `shardStep` leaves no shard.
   * @throws {RecordfsError} With code `unknown-key` where `mask` or `cacheKeys` has one.
   * @throws {DataError} With code `not-portable` if a module does not export what is asked for.
   */
  static open<T>(
    this: typeof BagDataset,
    path: string | URL,
    options: BagDatasetOptions<T>,
  ): Promise<BagDataset<T>>;
  /** Opens a dataset; samples are datapoints. */
  static open(
    this: typeof BagDataset,
    path: string | URL,
    options?: BagOpenOptions,
  ): Promise<BagDataset>;
  /** Opens a dataset as a class that extends this one, and is made of a reader and a mask. */
  static open<D extends BagDataset<unknown>>(
    this: new (reader: ShardedDatasetReader, mask?: Mask) => D,
    path: string | URL,
    options?: BagOpenOptions,
  ): Promise<D>;
  static async open(
    path: string | URL,
    options: BagOpenOptions & {
      readonly process?: Imported<Process<Datapoint, unknown>>;
    } = {},
  ): Promise<BagDataset<unknown>> {
    const { mask, process, decoders: from, signal, ...others } = options;
    const made = process && await importedFunction(process);
    const decoders = isImported(from)
      ? await importedValue(from) as Decoders
      : from;
    const { path: root, storage } = lastingAt(path, others);
    const reader = await ShardedDatasetReader.open(root, {
      ...others,
      decoders,
      storage,
      remote: undefined,
      signal,
    });
    try {
      await reader.read([], mask); // says now what the mask has too much
      const dataset = new this<unknown>(reader, mask, made);
      return openedFrom(dataset, openBags, root, { storage });
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /** This class. */
  protected override get libraryClass(): { readonly name: string } {
    return BagDataset;
  }
}

function isImported(
  decoders: BagOpenOptions["decoders"],
): decoders is URL | ImportedName {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // a type may be called so too
  return typeof module === "string" || module instanceof URL;
}
