import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  GrowingMemory,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { storedAt } from "../../../io/storage/stored_location.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { specOf } from "../dataset/spec.ts";
import { sharedFields } from "../dataset/fields.ts";
import { BagsSamples } from "./bags_samples.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import type { Datapoint, Mask } from "./selection.ts";
import { MAPPED, ShardReader } from "./shard_reader.ts";

/**
 * Reads the datapoints of a dataset of any generation (Python's `DatasetReader`).
 *
 * If the writer of a generation-3 dataset is active or was killed, only the complete datapoints are read.
 *
 * @example Read datapoints, and parts of them
 * ```ts
 * import { DatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const text = new TextDecoder();
 * using reader = await DatasetReader.open("test/golden/granular2/lists/data", {
 *   decoders: { utf8: (bytes) => text.decode(bytes) },
 * });
 * assert.equal(reader.spec.bar, "utf8[]");
 * assert.deepEqual(await reader.available(0), { bar: 2, foo: true, seq: 2 });
 * const { bar } = await reader.get(0, { bar: { start: 1, stop: 2 } });
 * assert.deepEqual(bar, ((await reader.get(0)).bar as string[]).slice(1));
 * ```
 */
export class DatasetReader implements Disposable {
  /** Directory of the dataset. */
  readonly path: string;
  /** Types of the keys; in a sharded dataset, those of the first shard. */
  readonly spec: Readonly<Record<string, string>>;
  /** Keys in the order of `spec.json`; in a sharded dataset, that of the first shard. */
  readonly keys: readonly string[];
  /** Number of datapoints in all shards that are read. */
  readonly length: number;
  /** @ignore The samples, for datasets. */
  readonly opened: BagsSamples;

  readonly #shards: readonly ShardReader[];

  /** @ignore Use `open`. */
  protected constructor(samples: BagsSamples, shards: readonly ShardReader[]) {
    const { keys } = shards[0]!.shard;
    this.#shards = shards;
    this.path = samples.path;
    this.spec = specOf(keys);
    this.keys = keys.map(({ key }) => key);
    this.length = samples.shards.length;
    this.opened = samples;
  }

  static *#open(
    directory: string | URL,
    options: DatasetOptions,
  ): Steps<DatasetReader> {
    const { path, storage } = storedAt(directory, options);
    const placed = { ...options, storage };
    const readers = [yield* ShardReader.open(path, placed, false)];
    const shards = new ShardTable(readers, ({ length }) => length);
    const fields = sharedFields(readers.map(({ shard }) => shard));
    const opened = { path, shards, fields, ofSeveral: false, readers };
    return new DatasetReader(new BagsSamples(opened, placed), readers);
  }

  /**
   * Opens a dataset that is not sharded, or one shard.
   *
   * @param directory Directory of its `spec.json`.
   * @throws {FormatError} If a file is missing or damaged.
   * @throws {RecordfsError} With code `unknown-key` if `cacheKeys` has an unknown key.
   */
  static open(
    directory: string | URL,
    options: DatasetOptions & WaitOptions = {},
  ): Promise<DatasetReader> {
    return runAsync(DatasetReader.#open(directory, options), options.signal);
  }

  /** Synchronous {@linkcode DatasetReader.open}. */
  static openSync(
    directory: string | URL,
    options: DatasetOptions = {},
  ): DatasetReader {
    return runSync(DatasetReader.#open(directory, options));
  }

  /** Form of the bags' indexes; in a sharded dataset, that of the first shard. */
  get generation(): Generation {
    return this.#shards[0]!.shard.generation;
  }

  /** Size of all bags, references and indexes in bytes. */
  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Reads a datapoint.
   *
   * @param index From 0 to `length - 1`.
   * @param mask Parts to read; nothing else is read.
   * @param options `memory` is read into; defaults to new memory.
   * @returns The values by key, in the order of `keys`; lists for list types. Bytes are in a buffer of their own, which
   * the caller owns. Those of a list are views of one buffer; with `memory`, all are views of it.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If it is damaged, or its decoder threw.
   * @throws {RecordfsError} With code `unknown-key` if `mask` has an unknown key.
   */
  async get(
    index: number,
    mask?: Mask,
    { memory, signal }:
      & { readonly memory?: GrowingMemory | undefined }
      & WaitOptions = {},
  ): Promise<Datapoint> {
    const read = this.opened.get(index, mask, memory);
    return await this.opened.decode(index, await runAsync(read, signal));
  }

  /**
   * Synchronous {@linkcode DatasetReader.get}.
   *
   * @throws {TypeError} If a decoder is asynchronous.
   */
  getSync(
    index: number,
    mask?: Mask,
    options?: { readonly memory?: GrowingMemory | undefined },
  ): Datapoint {
    return this.opened.getSync(index, mask, options?.memory);
  }

  /**
   * Like {@linkcode DatasetReader.getSync}, without copying: bytes, and arrays if alignment allows, are views of memory
   * maps of the bags. Linux only; needs `--allow-ffi`. The rules of {@linkcode BagReader.unsafeView} apply: **reading a
   * view after its file was truncated kills the process**.
   *
   * @param index From 0 to `length - 1`.
   * @param mask Parts to view.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If it is damaged, its decoder threw, or a bag was truncated.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped.
   * @throws {TypeError} If a decoder is asynchronous.
   */
  unsafeView(index: number, mask?: Mask): Datapoint {
    return this.opened.getSync(index, mask, MAPPED);
  }

  /**
   * Reads a batch of datapoints: any number, in any order, repeats allowed. All keys of all shards are read at once.
   *
   * @param indices From 0 to `length - 1`.
   * @param mask Parts of each datapoint to read; nothing else is read.
   * @returns The datapoints in the order of `indices`, as {@linkcode DatasetReader.get} returns them. No two share
   * bytes.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If one is damaged, or its decoder threw.
   * @throws {RecordfsError} With code `unknown-key` if `mask` has an unknown key.
   */
  read(
    indices: Iterable<number>,
    mask?: Mask,
    options: BatchReadOptions = {},
  ): Promise<Datapoint[]> {
    const { memory, signal } = options;
    const read = this.opened.readDecoded([...indices], mask, memory);
    return runAsync(read, signal);
  }

  /**
   * Synchronous {@linkcode DatasetReader.read}.
   *
   * @throws {TypeError} If a decoder is asynchronous.
   */
  readSync(
    indices: Iterable<number>,
    mask?: Mask,
    options: Pick<BatchReadOptions, "memory"> = {},
  ): Datapoint[] {
    const { memory } = options;
    return runSync(this.opened.readDecoded([...indices], mask, memory));
  }

  /**
   * Hints that datapoints will be read soon. Remote bags are fetched in the background, up to some megabytes of each at
   * a time. Returns at once; errors surface on the read itself.
   *
   * @param indices From 0 to `length - 1`.
   * @param mask Parts of each datapoint that will be read.
   * @returns Approximate number of bytes; 0 if the bags are local.
   */
  prefetch(indices: Iterable<number>, mask?: Mask): number {
    const known = [...indices].filter((index) => isIndex(index, this.length));
    return this.opened.prefetchMasked(known, mask);
  }

  /**
   * Reads consecutive datapoints, merging adjacent records of a key into one read.
   *
   * Python has this only for keys without lists and for whole generations; here it works for all.
   *
   * @param start First datapoint, from 0.
   * @param stop Datapoint after the last. Those that do not exist are skipped.
   * @param mask Parts of each datapoint to read.
   * @returns The values of each key, one per datapoint. Bytes that were read together are views of one buffer.
   * @throws {RangeError} If the range is not of integers, or descends.
   * @throws {FormatError} If a datapoint is damaged, or its decoder threw.
   * @throws {RecordfsError} With code `unknown-key` if `mask` has an unknown key.
   */
  range(
    start: number,
    stop: number,
    mask?: Mask,
    options: { readonly memory?: GrowingMemory | undefined } & WaitOptions = {},
  ): Promise<Record<string, unknown[]>> {
    const { memory, signal } = options;
    const read = this.opened.range(start, stop, mask, memory, true);
    return runAsync(read, signal);
  }

  /** Synchronous {@linkcode DatasetReader.range}. */
  rangeSync(
    start: number,
    stop: number,
    mask?: Mask,
    options: { readonly memory?: GrowingMemory | undefined } = {},
  ): Record<string, unknown[]> {
    const { memory } = options;
    return runSync(this.opened.range(start, stop, mask, memory, true));
  }

  /**
   * Returns the number of values of each key of a datapoint, without reading them.
   *
   * @param index From 0 to `length - 1`.
   * @returns By key: the length of a list, or `true`.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If its references are damaged.
   */
  available(
    index: number,
    options: WaitOptions = {},
  ): Promise<Record<string, true | number>> {
    return runAsync(this.opened.available(index), options.signal);
  }

  /** Synchronous {@linkcode DatasetReader.available}. */
  availableSync(index: number): Record<string, true | number> {
    return runSync(this.opened.available(index));
  }

  /** Closes the files. Data already read stays valid. */
  close(): void {
    this.opened.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}
