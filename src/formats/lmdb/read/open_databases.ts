import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { shardsIn } from "../../../io/storage/shard_paths.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { openKeyed } from "../../../tree/keyed/keyed_container.ts";
import type { KeyedFormat } from "../../../tree/keyed/keyed_index.ts";
import { DATA_FILE, isShard, Size } from "../layout.ts";
import { readSnapshot, type Snapshot } from "./meta.ts";
import { type OverflowValue, Walk } from "./walk.ts";

/** Opens a database, or several as one. Throws FormatError if nothing of it can be found. */
export function* openDatabases(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const stores = {
    ...yield* databasePaths(path, storage),
    format: "lmdb",
    suffix: /\.lmdb$/,
    *look(source: ByteSource) {
      return formatOf(source, yield* readSnapshot(source));
    },
  };
  return yield* openKeyed(stores, storage, options);
}

/** @param values Takes the values on overflow pages. */
export function formatOf(
  source: ByteSource,
  snapshot: Snapshot,
  values?: OverflowValue[],
): KeyedFormat {
  return {
    kind: "lmdb 1",
    entrySize: Size.NODE_HEADER,
    guard: snapshot.guard,
    walk: (builder) => new Walk(source, snapshot, builder, values).all(),
  };
}

/**
 * Finds the data files of a location: itself; `data.mdb` in a directory; or the databases in a directory whose names
 * end in `.lmdb`, each a file or a directory.
 *
 * @throws {FormatError} If a directory has none.
 */
export function* databasePaths(path: string, storage: Storage): Steps<{
  readonly paths: readonly string[];
  readonly names: readonly string[] | undefined;
}> {
  const found = yield* storage.list(path);
  if (found === undefined) return { paths: [path], names: undefined };
  if (found.includes(DATA_FILE)) {
    return { paths: [pathIn(path, DATA_FILE)], names: undefined };
  }
  const missing = `it has no ${DATA_FILE}, and nothing named x.lmdb`;
  const names = (yield* shardsIn(path, storage, isShard, missing))!;
  const paths: string[] = [];
  for (const name of names) {
    const shard = pathIn(path, name);
    const isFile = (yield* storage.list(shard)) === undefined;
    paths.push(isFile ? shard : pathIn(shard, DATA_FILE));
  }
  return { paths, names };
}
