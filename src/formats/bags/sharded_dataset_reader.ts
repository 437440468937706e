import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../io/batch_read_options.ts";
import type { WaitOptions } from "../../io/byte_source.ts";
import { localPath } from "../../io/local_path.ts";
import { inParallel } from "../../io/in_parallel.ts";
import type { BatchRoom } from "../../io/read_memory.ts";
import { runAsync, runSync, type Steps } from "../../io/steps.ts";
import { type BatchPlan, readPlans } from "./batch_plan.ts";
import type { Datapoint } from "./datapoint.ts";
import type { Generation } from "./generation.ts";
import { clippedCount } from "./list_range.ts";
import { openShards, type ShardedDatasetOptions } from "./open_shards.ts";
import { MAPPED, type OpenedDataset } from "./opened_dataset.ts";
import type { ReadOptions, ReadSyncOptions } from "./record_memory.ts";
import { requireDatapoint, requireOpen } from "./requirements.ts";
import type { Mask } from "./selection.ts";
import type { Spec } from "./spec.ts";

/**
 * Reads the shards of a dataset as one sequence of datapoints (Python's `ShardedDatasetReader`). A
 * dataset that is not sharded is taken for one shard.
 *
 * Of several workers, each reads its own shards where `shardStart` is its number, from 0 on, and
 * `shardStep` the number of workers. The README of bags names that number `shard_stop`; its code, as
 * here, calls it a step.
 *
 * All shards have the same keys. The types of a key may differ: each shard is read by its own.
 *
 * @example Read every second shard
 * ```ts
 * import { ShardedDatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const directory = "test/golden/granular3/sharded/data";
 * using reader = await ShardedDatasetReader.open(directory, {
 *   decoders: null,
 *   shardStart: 1,
 *   shardStep: 2,
 * });
 * assert.equal(reader.shards, 4); // of 8
 * const { caption } = await reader.get(reader.length - 1, ["caption"]);
 * assert.ok(caption instanceof Uint8Array);
 * ```
 */
export class ShardedDatasetReader implements Disposable {
  /** The dataset's directory. */
  readonly path: string;
  /** Number of datapoints of all shards that are read. */
  readonly length: number;
  readonly #shards: readonly OpenedDataset[];
  /** The index of each shard's first datapoint. */
  readonly #starts: readonly number[];
  #closed = false;

  private constructor(path: string, shards: readonly OpenedDataset[]) {
    let length = 0;
    this.path = path;
    this.#shards = shards;
    this.#starts = shards.map((shard) =>
      (length += shard.length) - shard.length
    );
    this.length = length;
  }

  static *#open(
    directory: string | URL,
    options: ShardedDatasetOptions,
  ): Steps<ShardedDatasetReader> {
    const path = localPath(directory);
    const shards = yield* openShards(path, options);
    return new ShardedDatasetReader(path, shards);
  }

  /**
   * Opens a sharded dataset.
   *
   * @param directory Where the shards `000000`, `000001`, … lie.
   * @throws {FormatError} If a shard is missing or damaged, something else lies there, or the keys of
   * the shards differ.
   * @throws {RangeError} If `shardStart` or `shardStep` is no whole number, or leaves no shard.
   * @throws {RecordfsError} With code `unknown-key` where `cacheKeys` has one.
   */
  static open(
    directory: string | URL,
    options: ShardedDatasetOptions & WaitOptions = {},
  ): Promise<ShardedDatasetReader> {
    return runAsync(
      ShardedDatasetReader.#open(directory, options),
      options.signal,
    );
  }

  /** {@linkcode ShardedDatasetReader.open} without waiting. */
  static openSync(
    directory: string | URL,
    options: ShardedDatasetOptions = {},
  ): ShardedDatasetReader {
    return runSync(ShardedDatasetReader.#open(directory, options));
  }

  /** Number of shards that are read. */
  get shards(): number {
    return this.#shards.length;
  }

  /** How the bags of the first shard keep their indexes. */
  get generation(): Generation {
    return this.#shards[0]!.generation;
  }

  /** The types of the keys, in the first shard. */
  get spec(): Spec {
    return this.#shards[0]!.spec;
  }

  /** The keys, in the order of the first shard's `spec.json`. */
  get keys(): readonly string[] {
    return this.#shards[0]!.keys;
  }

  /** Bytes of all bags of the shards that are read. */
  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Reads a datapoint.
   *
   * @param index From 0 to `length - 1`.
   * @param mask What to read of it: nothing else is read.
   * @returns The values by key, as {@linkcode DatasetReader.get} has them.
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
   * {@linkcode ShardedDatasetReader.get} without waiting.
   *
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  getSync(index: number, mask?: Mask, options?: ReadSyncOptions): Datapoint {
    const shard = this.#find(index);
    const memory = options?.memory;
    memory?.take(0);
    const inShard = index - this.#starts[shard]!;
    return this.#shards[shard]!.getSync(inShard, mask, memory);
  }

  /**
   * {@linkcode ShardedDatasetReader.getSync} without copying: values that are bytes, and arrays where alignment
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
    const shard = this.#find(index);
    const inShard = index - this.#starts[shard]!;
    return this.#shards[shard]!.getSync(inShard, mask, MAPPED);
  }

  /**
   * Reads a batch of datapoints: any number, in any order, repeats allowed. All keys are read in one go.
   *
   * @param indices From 0 to `length - 1`.
   * @param mask What to read of each: nothing else is read.
   * @returns The datapoints in the order of `indices`, as {@linkcode ShardedDatasetReader.get} has them; those whose
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
   * {@linkcode ShardedDatasetReader.read} without waiting.
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
   * Reads consecutive datapoints, as {@linkcode DatasetReader.range} does; they may lie in several
   * shards.
   *
   * @param start The first, from 0 on.
   * @param stop The one behind the last; those that do not exist are left out.
   * @param mask What to read of each.
   * @returns The values of each key, one a datapoint.
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

  /** {@linkcode ShardedDatasetReader.range} without waiting. */
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

  /** {@linkcode ShardedDatasetReader.available} without waiting. */
  availableSync(index: number): Record<string, true | number> {
    return runSync(this.#available(index));
  }

  /** Closes the files. What was read stays valid. */
  close(): void {
    this.#closed = true;
    for (const shard of this.#shards) shard.close();
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
    const shard = this.#find(index);
    memory?.take(0);
    const inShard = index - this.#starts[shard]!;
    return yield* this.#shards[shard]!.get(inShard, mask, memory);
  }

  *#read(
    indices: readonly number[],
    mask: Mask | undefined,
    memory: BatchRoom | undefined,
  ): Steps<Datapoint[]> {
    requireOpen(this.path, this.#closed);
    const byShard = Map.groupBy(
      indices.keys(),
      (place) => this.#find(indices[place]!),
    );
    if (byShard.size === 0) byShard.set(0, []); // which checks the mask
    const plans: BatchPlan[] = [];
    const plan = this.#plan.bind(this);
    yield* inParallel(
      Array.from(byShard, function* ([shard, places], i): Steps<void> {
        const own = places.map((place) => indices[place]!);
        plans[i] = yield* plan(shard, own, mask);
      }),
    );
    const read = yield* readPlans(plans, memory);
    const datapoints: Datapoint[] = new Array(indices.length);
    for (const [i, places] of [...byShard.values()].entries()) {
      places.forEach((place, k) => datapoints[place] = read[i]![k]!);
    }
    return datapoints;
  }

  #plan(
    shard: number,
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPlan> {
    const start = this.#starts[shard]!;
    const inShard = indices.map((index) => index - start);
    return this.#shards[shard]!.planBatch(inShard, mask);
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
    const values = new Map<string, unknown[]>();
    for (let i = this.#find(start), at = start; at < end; i++) {
      const shard = this.#shards[i]!;
      const inShard = at - this.#starts[i]!;
      const some = Math.min(shard.length - inShard, end - at);
      const part = yield* shard.range(inShard, some, mask, memory);
      for (const [key, list] of Object.entries(part)) {
        const before = values.get(key);
        if (before === undefined) values.set(key, list);
        else for (const value of list) before.push(value);
      }
      at += some;
    }
    return Object.fromEntries(values);
  }

  *#available(index: number): Steps<Record<string, true | number>> {
    const shard = this.#find(index);
    return yield* this.#shards[shard]!.available(index - this.#starts[shard]!);
  }

  /** The shard of a datapoint. */
  #find(index: number): number {
    requireOpen(this.path, this.#closed);
    requireDatapoint(this.path, index, this.length);
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) { // the last one that starts at or before it; empty ones come before
      const middle = low + high + 1 >>> 1;
      if (starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
