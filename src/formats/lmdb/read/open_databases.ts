import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { openKeyed } from "../../../tree/keyed/keyed_container.ts";
import type { KeyedFormat } from "../../../tree/keyed/keyed_index.ts";
import {
  type StorePaths,
  storePaths,
} from "../../../tree/keyed/store_paths.ts";
import { DATA_FILE, Size, SUFFIX } from "../layout.ts";
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
    suffix: SUFFIX,
    *look(source: ByteSource) {
      return formatOf(source, yield* readSnapshot(source, storage));
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

/** Finds the data files of a location. Throws FormatError if there are none. */
export function databasePaths(
  path: string,
  storage: Storage,
): Steps<StorePaths> {
  return storePaths(path, storage, { file: DATA_FILE, suffix: SUFFIX });
}
