import type { Steps } from "../../../io/concurrency/steps.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import { type ShardPaths, shardsIn } from "../../../io/storage/shard_paths.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { DATA_FILE, isShard } from "../layout.ts";

export interface DatabasePaths extends ShardPaths {
  /** Name of each database. */
  readonly names: readonly string[];
}

const MISSING =
  `it has no ${DATA_FILE}, and no database whose name ends in .lmdb. Give the directory of a database, or its file`;

/**
 * Finds the data files of a location: itself; `data.mdb` in a directory; or the databases in a directory whose names
 * end in `.lmdb`, each a file or a directory.
 *
 * @throws {FormatError} If a directory has none.
 */
export function* databasePaths(
  path: string,
  storage: Storage,
): Steps<DatabasePaths> {
  const names = yield* storage.list(path);
  if (names === undefined || names.includes(DATA_FILE)) {
    const file = names === undefined ? path : pathIn(path, DATA_FILE);
    return { paths: [file], names: [path], areShards: false };
  }
  const shards = (yield* shardsIn(path, storage, isShard, MISSING))!;
  const paths: string[] = [];
  for (const name of shards) {
    const shard = pathIn(path, name);
    const isFile = (yield* storage.list(shard)) === undefined;
    paths.push(isFile ? shard : pathIn(shard, DATA_FILE));
  }
  return { paths, names: shards, areShards: true };
}
