import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { storedAt } from "../../../io/storage/place.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { type Spec, specOf } from "../dataset/spec.ts";
import { sharedFields } from "../dataset/fields.ts";
import { BagsSamples } from "./bags_samples.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import type { ReadOptions, ReadSyncOptions } from "./record_memory.ts";
import type { Datapoint, Mask } from "./selection.ts";
import { MAPPED, ShardReader } from "./shard_reader.ts";

/**
 * Reads the datapoints of a dataset of any generation (Python's `DatasetReader`).
 *
 * Of a dataset of generation 3 whose writer is at work, or was killed, those that are complete are
 * there.
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
  /** The dataset's directory. */
  readonly path: string;
  /** The types of the keys; of shards, in the first one. */
  readonly spec: Spec;
  /** The keys, in the order of `spec.json`; of shards, that of the first one. */
  readonly keys: readonly string[];
  /** Number of datapoints, of all shards that are read. */
  readonly length: number;
  /** @ignore What is read, for datasets. */
  readonly opened: BagsSamples;

  readonly #shards: readonly ShardReader[];

  /** @ignore Readers are made by `open`. */
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
   * @param directory Where its `spec.json` lies.
   * @throws {FormatError} If a file is missing or damaged.
   * @throws {RecordfsError} With code `unknown-key` where `cacheKeys` has one.
   */
  static open(
    directory: string | URL,
    options: DatasetOptions & WaitOptions = {},
  ): Promise<DatasetReader> {
    return runAsync(DatasetReader.#open(directory, options), options.signal);
  }

  /** {@linkcode DatasetReader.open} without waiting. */
  static openSync(
    directory: string | URL,
    options: DatasetOptions = {},
  ): DatasetReader {
    return runSync(DatasetReader.#open(directory, options));
  }

  /** The form of the bags' indexes; of shards, those of the first one. */
  get generation(): Generation {
    return this.#shards[0]!.shard.generation;
  }

  /** Bytes of all bags, the references and the indexes. */
  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Reads a datapoint.
   *
   * @param index From 0 to `length - 1`.
   * @param mask What to read of it: nothing else is read.
   * @returns The values by key, in the order of `keys`; lists for list types. A value that is bytes
   * is the caller's, in a buffer of its own. Those of a list are views of one buffer, and with `memory`
   * of that.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If it is damaged, or its decoder has thrown.
   * @throws {RecordfsError} With code `unknown-key` where `mask` has one.
   */
  async get(
    index: number,
    mask?: Mask,
    { memory, signal }: ReadOptions = {},
  ): Promise<Datapoint> {
    const read = this.opened.get(index, mask, memory);
    return await this.opened.decode(index, await runAsync(read, signal));
  }

  /**
   * {@linkcode DatasetReader.get} without waiting.
   *
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  getSync(index: number, mask?: Mask, options?: ReadSyncOptions): Datapoint {
    return this.opened.getSync(index, mask, options?.memory);
  }

  /**
   * {@linkcode DatasetReader.getSync} without copying: values that are bytes, and arrays where alignment
   * allows, are views of memory maps of the bags. Linux only, and it needs `--allow-ffi`; what
   * {@linkcode BagReader.unsafeView} says of views holds for these: **reading one after its file was cut
   * short kills the process**.
   *
   * @param index From 0 to `length - 1`.
   * @param mask What to look at.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If it is damaged, its decoder has thrown, or a bag was cut.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped.
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  unsafeView(index: number, mask?: Mask): Datapoint {
    return this.opened.getSync(index, mask, MAPPED);
  }

  /**
   * Reads a batch of datapoints: any number, in any order, repeats allowed. All keys are read in one go,
   * and all shards.
   *
   * @param indices From 0 to `length - 1`.
   * @param mask What to read of each: nothing else is read.
   * @returns The datapoints in the order of `indices`, as {@linkcode DatasetReader.get} has them; those whose
   * values are bytes share none.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If one is damaged, or its decoder has thrown.
   * @throws {RecordfsError} With code `unknown-key` where `mask` has one.
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
   * {@linkcode DatasetReader.read} without waiting.
   *
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  readSync(
    indices: Iterable<number>,
    mask?: Mask,
    options: BatchReadSyncOptions = {},
  ): Datapoint[] {
    const { memory } = options;
    return runSync(this.opened.readDecoded([...indices], mask, memory));
  }

  /**
   * Says that datapoints will be read soon: where the bags lie on a server, they are fetched meanwhile, up to some
   * megabytes of each at a time. Nothing is waited for, and what is wrong with them whoever reads them is told.
   *
   * @param indices From 0 to `length - 1`.
   * @param mask What will be read of each.
   * @returns About how many bytes that are; 0 where the bags are local.
   */
  expect(indices: Iterable<number>, mask?: Mask): number {
    const known = [...indices].filter((index) => isIndex(index, this.length));
    return this.opened.expectMasked(known, mask);
  }

  /**
   * Reads consecutive datapoints: of each key, as much in one go as lies together.
   *
   * In Python this is for keys without lists, and for whole generations: here it is for all.
   *
   * @param start The first, from 0 on.
   * @param stop The one behind the last; those that do not exist are left out.
   * @param mask What to read of each.
   * @returns The values of each key, one a datapoint. Bytes that were read together are views of one
   * buffer.
   * @throws {RangeError} If they are no whole numbers, or descend.
   * @throws {FormatError} If a datapoint is damaged, or its decoder has thrown.
   * @throws {RecordfsError} With code `unknown-key` where `mask` has one.
   */
  range(
    start: number,
    stop: number,
    mask?: Mask,
    options: ReadOptions = {},
  ): Promise<Record<string, unknown[]>> {
    const { memory, signal } = options;
    const read = this.opened.range(start, stop, mask, memory, true);
    return runAsync(read, signal);
  }

  /** {@linkcode DatasetReader.range} without waiting. */
  rangeSync(
    start: number,
    stop: number,
    mask?: Mask,
    options: ReadSyncOptions = {},
  ): Record<string, unknown[]> {
    const { memory } = options;
    return runSync(this.opened.range(start, stop, mask, memory, true));
  }

  /**
   * Tells what there is of a datapoint, without reading it.
   *
   * @param index From 0 to `length - 1`.
   * @returns By key: how many values a list has, or `true`.
   * @throws {IndexError} If there is no such datapoint.
   * @throws {FormatError} If its references are damaged.
   */
  available(
    index: number,
    options: WaitOptions = {},
  ): Promise<Record<string, true | number>> {
    return runAsync(this.opened.available(index), options.signal);
  }

  /** {@linkcode DatasetReader.available} without waiting. */
  availableSync(index: number): Record<string, true | number> {
    return runSync(this.opened.available(index));
  }

  /** Closes the files. What was read stays valid. */
  close(): void {
    this.opened.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}
