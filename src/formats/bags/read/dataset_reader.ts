import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../../io/read/batch_read_options.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { readBatch } from "./batch_plan.ts";
import type { Datapoint } from "./datapoint.ts";
import { type Datapoints, MAPPED } from "./datapoints.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import type { Generation } from "../dataset/generation.ts";
import { clippedCount } from "./list_range.ts";
import type { ReadOptions, ReadSyncOptions } from "./record_memory.ts";
import { OpenedDataset } from "./opened_dataset.ts";
import { requireDatapoint, requireOpen } from "./requirements.ts";
import type { Mask } from "./selection.ts";
import type { Spec } from "../dataset/spec.ts";

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
  readonly #points: Datapoints;
  #closed = false;

  /** @ignore Readers are made by `open`. */
  protected constructor(points: Datapoints) {
    this.#points = points;
  }

  static *#open(
    directory: string | URL,
    options: DatasetOptions,
  ): Steps<DatasetReader> {
    const path = localPath(directory);
    return new DatasetReader(yield* OpenedDataset.open(path, options));
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

  /** The dataset's directory. */
  get path(): string {
    return this.#points.path;
  }

  /** How the bags keep their indexes; of shards, those of the first one. */
  get generation(): Generation {
    return this.#points.generation;
  }

  /** The types of the keys; of shards, in the first one. */
  get spec(): Spec {
    return this.#points.spec;
  }

  /** The keys, in the order of `spec.json`; of shards, that of the first one. */
  get keys(): readonly string[] {
    return this.#points.keys;
  }

  /** Number of datapoints, of all shards that are read. */
  get length(): number {
    return this.#points.length;
  }

  /** Bytes of all bags, the references and the indexes. */
  get size(): number {
    return this.#points.size;
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
    return this.#points.getSync(index, mask, memory);
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
    return this.#points.getSync(index, mask, MAPPED);
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
    this.#points.close();
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
    return yield* this.#points.get(index, mask, memory);
  }

  *#read(
    indices: readonly number[],
    mask: Mask | undefined,
    memory: BatchRoom | undefined,
  ): Steps<Datapoint[]> {
    requireOpen(this.path, this.#closed);
    for (const index of indices) this.#require(index);
    const plan = yield* this.#points.planBatch(indices, mask);
    return yield* readBatch(plan, memory);
  }

  *#range(
    start: number,
    stop: number,
    mask: Mask | undefined,
    { memory }: ReadSyncOptions,
  ): Steps<Record<string, unknown[]>> {
    requireOpen(this.path, this.#closed);
    const count = clippedCount(start, stop, this.length);
    memory?.take(0);
    return yield* this.#points.range(start, count, mask, memory);
  }

  *#available(index: number): Steps<Record<string, true | number>> {
    this.#require(index);
    return yield* this.#points.available(index);
  }

  #require(index: number): void {
    requireOpen(this.path, this.#closed);
    requireDatapoint(this.path, index, this.length);
  }
}
