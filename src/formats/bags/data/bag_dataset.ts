import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import {
  type Imported,
  importedFunction,
  importedValue,
} from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/stored_location.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import type { ShardedDatasetOptions } from "../read/dataset_options.ts";
import type { DatasetReader } from "../read/dataset_reader.ts";
import type { Datapoint, Mask } from "../read/selection.ts";
import { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";
import { openBags } from "../tree/open_bags.ts";
import type { Decoders } from "../types/shipped.ts";

/** Options of opening a {@linkcode BagDataset}. */
export interface BagDatasetOptions
  extends Omit<ShardedDatasetOptions, "decoders">, WaitOptions {
  /** Parts of each datapoint to read. Defaults to all. */
  readonly mask?: Mask | undefined;
  /**
   * Decoders by type, or the module that exports them, which a loader with workers needs. Defaults to those of the
   * types that Bags and Granular ship. With `null`, values are bytes.
   */
  readonly decoders?: Decoders | Imported<never> | null | undefined;
}

/**
 * Datapoints of a dataset of Bags or Granular, of any generation, sharded or not. Each batch is one batched read of all
 * keys and shards.
 *
 * @typeParam T Type of a sample: a datapoint, or what `process` returns.
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
  /** Types of the keys. */
  readonly spec: Readonly<Record<string, string>>;

  /**
   * Creates the dataset; {@linkcode BagDataset.open} opens one.
   *
   * @param reader Reader of the datapoints; the dataset closes it.
   * @param mask Parts of each datapoint to read.
   * @param process Makes samples of datapoints.
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
   * @param path Directory of its `spec.json`, or of its shards `000000`, `000001`, …
   * @param options What to read, how to make samples of it, and how to open the dataset.
   * @throws {FormatError} If a shard is missing, or the only one or all are damaged.
   * @throws {RangeError} If `shardStart` or `shardStep` selects no shard.
   * @throws {RecordfsError} With code `unknown-key` if `mask` or `cacheKeys` has an unknown key.
   * @throws {DataError} With code `not-portable` if a module lacks the requested export.
   */
  static open<T>(
    this: typeof BagDataset,
    path: string | URL,
    options: BagDatasetOptions & {
      /** Makes samples of datapoints. Must be a function of a module if the loader has workers. */
      readonly process: Imported<Process<Datapoint, T>>;
    },
  ): Promise<BagDataset<T>>;
  /** Opens a dataset; samples are datapoints. */
  static open(
    this: typeof BagDataset,
    path: string | URL,
    options?: BagDatasetOptions,
  ): Promise<BagDataset>;
  /** Opens a dataset as a subclass whose constructor takes a reader and a mask. */
  static open<D extends BagDataset<unknown>>(
    this: new (reader: ShardedDatasetReader, mask?: Mask) => D,
    path: string | URL,
    options?: BagDatasetOptions,
  ): Promise<D>;
  static async open(
    path: string | URL,
    options: BagDatasetOptions & {
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
      await reader.read([], mask); // validates the mask now
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
  decoders: BagDatasetOptions["decoders"],
): decoders is Imported<never> {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // a type may also have this name
  return typeof module === "string" || module instanceof URL;
}
