import { IndexError } from "../../../base/errors.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import { storedAt } from "../../../io/storage/place.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { type Spec, specOf } from "../dataset/spec.ts";
import { type BatchPart, expectBatch, readBatch } from "./batch.ts";
import { clippedCount, type Datapoint, type Mask } from "./selection.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { ReadOptions, ReadSyncOptions } from "./record_memory.ts";
import { MAPPED, type ReadShards, ShardReader } from "./shard_reader.ts";
import type { DatasetOptions } from "./dataset_options.ts";

/** The shards of a reader, and those that it leaves out, for this format's own files. */
export let shardsOf: (reader: DatasetReader) => ReadShards;

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
  /** At least one. */
  readonly #shards: readonly ShardReader[];
  readonly #opened: ReadShards;
  /** The index of each one's first datapoint. */
  readonly #starts: Float64Array;
  #closed = false;

  static {
    shardsOf = (reader) => reader.#opened;
  }

  /** @ignore Readers are made by `open`. */
  protected constructor(path: string, opened: ReadShards) {
    const { sound: shards } = opened;
    const { keys } = shards[0]!.shard;
    this.path = path;
    this.spec = specOf(keys);
    this.keys = keys.map(({ key }) => key);
    this.#shards = shards;
    this.#opened = opened;
    let length = 0;
    for (const shard of shards) {
      shard.start = length;
      length += shard.length;
    }
    this.#starts = Float64Array.from(shards, ({ start }) => start);
    this.length = length;
  }

  static *#open(
    directory: string | URL,
    options: DatasetOptions,
  ): Steps<DatasetReader> {
    const { path, storage } = storedAt(directory, options);
    const shard = yield* ShardReader.open(path, { ...options, storage });
    return new DatasetReader(path, { sound: [shard], lost: [] });
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
  get(
    index: number,
    mask?: Mask,
    options: ReadOptions = {},
  ): Promise<Datapoint> {
    return runAsync(this.#get(index, mask, options), options.signal);
  }

  /**
   * {@linkcode DatasetReader.get} without waiting.
   *
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  getSync(index: number, mask?: Mask, options?: ReadSyncOptions): Datapoint {
    this.#require(index);
    const memory = options?.memory;
    memory?.take(0);
    const shard = this.#find(index);
    return shard.getSync(index - shard.start, mask, memory);
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
    this.#require(index);
    const shard = this.#find(index);
    return shard.getSync(index - shard.start, mask, MAPPED);
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
    return runAsync(this.#read([...indices], mask, memory), signal);
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
    return runSync(this.#read([...indices], mask, options.memory));
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
    if (this.#closed) return 0;
    const known = [...indices].filter((index) => this.#has(index));
    let bytes = 0;
    for (const [shard, places] of this.#byShard(known)) {
      bytes += shard.remoteBytes(places.length, mask);
    }
    if (bytes > 0) {
      // Where the references, or the index, have to be fetched, that comes first.
      runAsync(this.#partsOf(known, mask)).then(expectBatch, () => {});
    }
    return bytes;
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
    return runAsync(this.#range(start, stop, mask, options), options.signal);
  }

  /** {@linkcode DatasetReader.range} without waiting. */
  rangeSync(
    start: number,
    stop: number,
    mask?: Mask,
    options: ReadSyncOptions = {},
  ): Record<string, unknown[]> {
    return runSync(this.#range(start, stop, mask, options));
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
    return runAsync(this.#available(index), options.signal);
  }

  /** {@linkcode DatasetReader.available} without waiting. */
  availableSync(index: number): Record<string, true | number> {
    return runSync(this.#available(index));
  }

  /** Closes the files. What was read stays valid. */
  close(): void {
    this.#closed = true;
    for (const { shard } of this.#shards) shard.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#get(
    index: number,
    mask: Mask | undefined,
    { memory }: ReadSyncOptions,
  ): Steps<Datapoint> {
    this.#require(index);
    memory?.take(0);
    const shard = this.#find(index);
    return yield* shard.get(index - shard.start, mask, memory);
  }

  *#read(
    indices: readonly number[],
    mask: Mask | undefined,
    memory: BatchRoom | undefined,
  ): Steps<Datapoint[]> {
    requireOpen(this.path, this.#closed);
    for (const index of indices) this.#require(index);
    const parts = yield* this.#partsOf(indices, mask);
    return yield* readBatch(indices.length, parts, memory);
  }

  /** Finds what a batch has to read. */
  *#partsOf(
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPart[]> {
    const byShard = this.#byShard(indices);
    if (byShard.size === 0) byShard.set(this.#shards[0]!, []); // which checks the mask
    const parts: BatchPart[][] = [];
    yield* inParallel(
      Array.from(byShard, function* ([shard, places], i): Steps<void> {
        const own = places.map((place) => indices[place]! - shard.start);
        parts[i] = yield* shard.partsOf(own, places, mask);
      }),
    );
    return parts.flat();
  }

  /** The places of a batch, by the shards that its datapoints lie in. */
  #byShard(indices: readonly number[]): Map<ShardReader, number[]> {
    return Map.groupBy(
      indices.keys(),
      (place) => this.#find(indices[place]!),
    );
  }

  *#range(
    start: number,
    stop: number,
    mask: Mask | undefined,
    { memory }: ReadSyncOptions,
  ): Steps<Record<string, unknown[]>> {
    requireOpen(this.path, this.#closed);
    const count = clippedCount(start, stop, this.length);
    const end = start + count;
    memory?.take(0);
    if (count === 0) return yield* this.#shards[0]!.range(0, 0, mask, memory);
    const values: Record<string, unknown[]> = {};
    for (const shard of this.#shards) {
      const first = Math.max(start - shard.start, 0);
      const some = Math.min(shard.length, end - shard.start) - first;
      if (some <= 0) continue;
      const part = yield* shard.range(first, some, mask, memory);
      for (const key of Object.keys(part)) {
        if (!Object.hasOwn(values, key)) setOwn(values, key, part[key]!);
        else for (const value of part[key]!) values[key]!.push(value);
      }
    }
    return values;
  }

  *#available(index: number): Steps<Record<string, true | number>> {
    this.#require(index);
    const shard = this.#find(index);
    return yield* shard.available(index - shard.start);
  }

  /** The shard of a datapoint: the last one that starts at or before it, since empty ones come before. */
  #find(index: number): ShardReader {
    return this.#shards[lastUpTo(this.#starts, index)]!;
  }

  #require(index: number): void {
    requireOpen(this.path, this.#closed);
    if (this.#has(index)) return;
    throw new IndexError(index, this.length, this.path, 0, "datapoint");
  }

  #has(index: number): boolean {
    return Number.isSafeInteger(index) && index >= 0 && index < this.length;
  }
}
