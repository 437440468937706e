import type { Steps } from "../../io/concurrency/steps.ts";
import { bracePaths } from "../../io/storage/shards/brace_locations.ts";
import { shardsIn } from "../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { pathIn } from "../../io/storage/stored_location.ts";

/** Files of one or several key-value stores. */
export interface StorePaths {
  readonly paths: readonly string[];
  /** Paths of the stores, each of which is a directory; `undefined` for a single one, whose keys are in the root. */
  readonly names: readonly string[] | undefined;
}

/**
 * Finds the files of a location: itself; the file in it, if it is the directory of a store; or stores that are each a
 * file or a directory: those in a directory, or those that a pattern such as `train-{00..03}.lmdb` names.
 *
 * @param file Name of the file in the directory of a store.
 * @param suffix Suffix of the names of stores in a directory.
 * @throws {FormatError} If a directory has none, or a pattern names too many.
 */
export function* storePaths(
  path: string,
  storage: Storage,
  { file, suffix }: { readonly file: string; readonly suffix: string },
): Steps<StorePaths> {
  let names = yield* bracePaths(path, storage);
  if (names === undefined) {
    const own = yield* fileIn(path, storage, file);
    if (own !== undefined) return { paths: [own], names };
    const isStore = (name: string) => name.endsWith(suffix);
    const missing = `it has no ${file}, and nothing named NAME${suffix}`;
    const shards = yield* shardsIn(path, storage, isStore, missing);
    names = shards!.map((name) => pathIn(path, name));
  }
  const paths: string[] = [];
  for (const name of names) {
    paths.push((yield* fileIn(name, storage, file)) ?? pathIn(name, file));
  }
  return { paths, names };
}

/** Returns the file of a store; `undefined` for a directory without one. */
function* fileIn(
  path: string,
  storage: Storage,
  file: string,
): Steps<string | undefined> {
  const names = yield* storage.list(path);
  if (names === undefined) return path;
  return names.includes(file) ? pathIn(path, file) : undefined;
}
