import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { countShards, shardName } from "./shard_names.ts";
import { isDatasetFile } from "./dataset_names.ts";

/** What is at a location: one bag, a dataset, or a directory of shards. */
export type DatasetLocation =
  | { readonly kind: "bag"; readonly path: string }
  | { readonly kind: "dataset"; readonly path: string }
  | { readonly kind: "shards"; readonly path: string; readonly shards: number };

/** The directory of a shard. */
export function shardPath(directory: string, shard: number): string {
  return `${directory}/${shardName(shard)}`;
}

/**
 * Counts the shards in a directory. The last does not count while it is empty: its writer is about to
 * write its first file, or was killed before.
 *
 * @param names What is in the directory.
 * @param onWarning Told of an empty shard.
 * @throws {FormatError} If shards are missing, or something that is no shard is among them.
 */
export function* countBegunShards(
  storage: Storage,
  directory: string,
  names: Iterable<string>,
  onWarning?: (message: string) => void,
): Steps<number> {
  const count = countShards(directory, names);
  if (count === 1) return 1;
  const last = shardPath(directory, count - 1);
  const files = yield* storage.list(last);
  const isEmpty = files?.every((name) => name.startsWith(".")) ?? false;
  if (!isEmpty) return count;
  onWarning?.(
    `${last}: the last shard is empty and left out: its writer is about to begin it, or was killed`,
  );
  return count - 1;
}

/**
 * Looks what is at a location.
 *
 * @param path A dataset's directory, that of its shards, a `.bag`, or the `.idx` of one.
 * @param onWarning Told of a last shard that is empty.
 * @throws {FormatError} If shards are missing, or something that is no shard is among them.
 */
export function* locateDataset(
  storage: Storage,
  path: string,
  onWarning?: (message: string) => void,
): Steps<DatasetLocation> {
  const names = yield* storage.list(path);
  if (names === undefined) {
    return { kind: "bag", path: path.replace(/\.idx$/, ".bag") };
  }
  if (names.some(isDatasetFile)) return { kind: "dataset", path };
  const shards = yield* countBegunShards(storage, path, names, onWarning);
  return { kind: "shards", path, shards };
}
