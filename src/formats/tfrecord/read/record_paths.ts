import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  type ShardPaths,
  shardPaths,
} from "../../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { isShard } from "../layout.ts";

/** Finds the files of a location; throws FormatError if a directory has none, or fewer than their names say. */
export function recordPaths(path: string, storage: Storage): Steps<ShardPaths> {
  return shardPaths(path, storage, {
    format: "TFRecord",
    examples: "x.tfrecord or x-00000-of-00010",
    isShard,
  });
}
