import type { Steps } from "../../../io/concurrency/steps.ts";
import { bracePaths } from "../../../io/storage/shards/brace_locations.ts";
import {
  type ShardPaths,
  shardsIn,
} from "../../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import { isShard } from "../layout.ts";
import { type WidsShard, widsShards } from "../read/wids.ts";

const NO_TARS =
  "no file whose name ends in .tar: name the directory of the shards, or a shard";

/** Tars of a location. */
export interface TarPaths extends ShardPaths {
  /** What an index of wids says of each. */
  readonly wids?: readonly WidsShard[];
}

/**
 * Finds the tars of a location: itself; those in the directory, by name; or those named by a pattern such as
 * `train-{000000..000146}.tar`, or several joined by `::`; or those that an index of wids lists.
 *
 * @throws {FormatError} If a directory has none, or a pattern names too many.
 */
export function* tarPaths(path: string, storage: Storage): Steps<TarPaths> {
  const paths = yield* bracePaths(path, storage);
  if (paths !== undefined) return { paths, areShards: true };
  const wids = yield* widsShards(path, storage);
  if (wids !== undefined) {
    return { paths: wids.map(({ path }) => path), areShards: true, wids };
  }
  const shards = yield* shardsIn(path, storage, isShard, NO_TARS);
  if (shards === undefined) return { paths: [path], areShards: false };
  return {
    paths: shards.map((name) => pathIn(path, name)),
    areShards: true,
  };
}
