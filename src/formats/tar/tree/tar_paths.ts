import type { Steps } from "../../../io/concurrency/steps.ts";
import { bracePaths } from "../../../io/storage/brace_locations.ts";
import { type ShardPaths, shardsIn } from "../../../io/storage/shard_paths.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import { isShard } from "../layout.ts";

const NO_TARS =
  "no file whose name ends in .tar: name the directory of the shards, or a shard";

/**
 * Finds the tars of a location: itself; those in the directory, by name; or those named by a pattern such as
 * `train-{000000..000146}.tar`, or several joined by `::`.
 *
 * @throws {FormatError} If a directory has none, or a pattern names too many.
 */
export function* tarPaths(path: string, storage: Storage): Steps<ShardPaths> {
  const paths = yield* bracePaths(path, storage);
  if (paths !== undefined) return { paths, areShards: true };
  const shards = yield* shardsIn(path, storage, isShard, NO_TARS);
  if (shards === undefined) return { paths: [path], areShards: false };
  return {
    paths: shards.map((name) => pathIn(path, name)),
    areShards: true,
  };
}
