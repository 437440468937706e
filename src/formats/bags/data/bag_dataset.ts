import { openBags } from "../tree/open_bags.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import {
  lengthsOf,
  ShardedDatasetReader,
} from "../read/sharded_dataset_reader.ts";
import type { ShardedDatasetOptions } from "../read/dataset_options.ts";
import { type DatasetReader, shardsOf } from "../read/dataset_reader.ts";
import { changedFile } from "../../../io/storage/changed_file.ts";
import type { Datapoint, Mask } from "../read/selection.ts";
import type { Spec } from "../dataset/spec.ts";
import type { Decoders } from "../types/shipped.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { DataError } from "../../../data/data_error.ts";
import type { GetOptions } from "../../../data/dataset.ts";
import {
  argument,
  type Imported,
  importedFunction,
  type ImportedName,
  importedValue,
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

/** Recipes by which another thread opens a reader again. */
const recipes = new WeakMap<object, [path: string, options: ReaderOptions]>();

/** Options of opening a reader. */
type ReaderOptions =
  & ShardedDatasetOptions
  & Pick<BagOpenOptions, "storage">;

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
export class BagDataset<T = Datapoint> extends ProcessedDataset<Datapoint, T> {
  readonly #reader: DatasetReader | ShardedDatasetReader;
  readonly #mask: Mask | undefined;

  /**
   * Makes the dataset; {@linkcode BagDataset.open} opens one.
   *
   * @param reader What to read the datapoints from; it is closed with the dataset.
   * @param mask What to read of each.
   * @param process What makes samples of datapoints.
   */
  constructor(
    reader: DatasetReader | ShardedDatasetReader,
    mask?: Mask,
    process?: Process<Datapoint, T>,
  ) {
    super(process);
    this.#reader = reader;
    this.#mask = mask;
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
    const opened = { ...others, decoders };
    const { path: root, storage } = lastingAt(path, others);
    const reader = await openReader(root, {
      ...opened,
      storage,
      remote: undefined,
    }, signal);
    try {
      await reader.read([], mask); // says now what the mask has too much
      const dataset = new this<unknown>(reader, mask, made);
      return openedFrom(dataset, openBags, root, { storage });
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /** Number of datapoints. */
  override get length(): number {
    return this.#reader.length;
  }

  /** The number of datapoints of each shard, 0 of one that is left out since it is damaged. */
  override get shardLengths(): readonly number[] {
    return lengthsOf(this.#reader);
  }

  /** The types of the keys. */
  get spec(): Spec {
    return this.#reader.spec;
  }

  /** Has datapoints fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices, this.#mask);
  }

  /** The dataset's directory. */
  override fileOf(index: number): string | undefined {
    return hasSample(this, index) ? this.#reader.path : undefined;
  }

  /** The dataset again. */
  override [RECIPE](): Recipe {
    requireClass(this, BagDataset);
    const opened = recipes.get(this.#reader);
    if (opened === undefined) throw notOpenedByPath(this.#reader.path);
    const [path, { decoders, ...options }] = opened;
    const what = "The option 'decoders' of BagDataset";
    return {
      module: import.meta.url,
      name: "reopenBagDataset",
      how: "call",
      args: [
        path,
        {
          ...options,
          decoders: argument(decoders, what),
          storage: storageArgument(options.storage, path),
        },
        this.#mask,
        this.portableProcess(),
        lostPaths(this.#reader),
      ],
    };
  }

  /** Closes the files. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** Reads the datapoints of a batch. */
  protected override readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<Datapoint[]> {
    return this.#reader.read(indices, this.#mask, { memory, signal });
  }
}

/**
 * Makes the dataset in another thread.
 *
 * @param lost The shards that are left out.
 * @throws {FormatError} With code `changed` if others are damaged now, so that datapoints would have other numbers.
 */
export async function reopenBagDataset<T>(
  path: string,
  options: ReaderOptions,
  mask: Mask | undefined,
  process: Process<Datapoint, T> | undefined,
  lost: readonly string[],
): Promise<BagDataset<T>> {
  const quiet = { ...options, onWarning: () => {} }; // was told of already
  const reader = await openReader(path, quiet, undefined);
  const isSame = lost.join() === lostPaths(reader).join();
  if (isSame) return new BagDataset(reader, mask, process);
  reader.close();
  throw changedFile(path);
}

function lostPaths(reader: DatasetReader): string[] {
  return shardsOf(reader).lost.map(({ path }) => path);
}

async function openReader(
  path: string,
  options: ReaderOptions,
  signal: AbortSignal | undefined,
): Promise<ShardedDatasetReader> {
  const { onWarning: _, ...portable } = options;
  const reader = await ShardedDatasetReader.open(path, { ...options, signal });
  recipes.set(reader, [path, portable]);
  return reader;
}

function isImported(
  decoders: BagOpenOptions["decoders"],
): decoders is URL | ImportedName {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // a type may be called so too
  return typeof module === "string" || module instanceof URL;
}

function notOpenedByPath(path: string): DataError {
  return new DataError(
    "not-portable",
    `The loader's worker threads cannot open ${path} again as it was opened: ` +
      `make the dataset with BagDataset.open(), or load with numWorkers: 0`,
    { path },
  );
}
