import type { Decoders } from "../types/shipped.ts";
import type { BagOptions } from "./bag_reader.ts";

/** Options of opening a dataset. */
export interface DatasetOptions extends BagOptions {
  /**
   * What makes values of records, by types; that of {@linkcode decodersOf} by default. Values of types
   * that have none are bytes; with `null`, all are.
   */
  readonly decoders?: Decoders | null | undefined;
  /**
   * Keys whose bags are held in memory whole; in generations 1 and 2 also `refs`, where the
   * references are.
   */
  readonly cacheKeys?: readonly string[] | undefined;
  /**
   * Whether asynchronous methods read the keys of a datapoint at the same time, which pays where
   * they lie on a disk that is waited for; `false` by default.
   */
  readonly parallel?: boolean | undefined;
}

/** Options of opening a sharded dataset. */
export interface ShardedDatasetOptions extends DatasetOptions {
  /** The first shard to read; 0 by default. */
  readonly shardStart?: number | undefined;
  /** Every how many shards one is read; 1 by default, which is each. */
  readonly shardStep?: number | undefined;
}
