import type { Decoders } from "../types/shipped.ts";
import type { BagOptions } from "./bag_reader.ts";

/** Options of opening a dataset. */
export interface DatasetOptions extends BagOptions {
  /** Decoders by type. Defaults to {@linkcode decodersOf}. Values without a decoder are bytes; with `null`, all are. */
  readonly decoders?: Decoders | null | undefined;
  /** Keys whose bags are held in memory whole; in generations 1 and 2 also `refs`, which holds the references. */
  readonly cacheKeys?: readonly string[] | undefined;
  /** Whether asynchronous methods read the keys of a datapoint in parallel, for slow storage. Defaults to `false`. */
  readonly parallel?: boolean | undefined;
}

/** Options of opening a sharded dataset. */
export interface ShardedDatasetOptions extends DatasetOptions {
  /** First shard to read. Defaults to 0. */
  readonly shardStart?: number | undefined;
  /** Read every n-th shard. Defaults to 1. */
  readonly shardStep?: number | undefined;
}
