import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { DatasetReader } from "./dataset_reader.ts";
import {
  openShards,
  type ShardedDatasetOptions,
} from "../dataset/open_shards.ts";
import { OpenedShards } from "./opened_shards.ts";

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
export class ShardedDatasetReader extends DatasetReader {
  readonly #shards: OpenedShards;

  private constructor(shards: OpenedShards) {
    super(shards);
    this.#shards = shards;
  }

  static *#open(
    directory: string | URL,
    options: ShardedDatasetOptions,
  ): Steps<ShardedDatasetReader> {
    const path = localPath(directory);
    const shards = yield* openShards(path, options);
    return new ShardedDatasetReader(new OpenedShards(path, shards));
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
  static override open(
    directory: string | URL,
    options: ShardedDatasetOptions & WaitOptions = {},
  ): Promise<ShardedDatasetReader> {
    return runAsync(
      ShardedDatasetReader.#open(directory, options),
      options.signal,
    );
  }

  /** {@linkcode ShardedDatasetReader.open} without waiting. */
  static override openSync(
    directory: string | URL,
    options: ShardedDatasetOptions = {},
  ): ShardedDatasetReader {
    return runSync(ShardedDatasetReader.#open(directory, options));
  }

  /** Number of shards that are read. */
  get shards(): number {
    return this.#shards.count;
  }
}
