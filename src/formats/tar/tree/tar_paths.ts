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

/** Maximum number of parent directories kept in front of a tar's own. */
const MOST_PARENTS = 4;

/**
 * Returns the directories in which to show tars: their names without suffix, preceded by as many parent directories as
 * make them distinct. Duplicates get a number.
 */
export function tarDirectories(paths: readonly string[]): string[][] {
  const all = paths.map((path) => {
    const parts = path.split("/")
      .filter((part) => !/^(\.{0,2}|[a-z][a-z0-9+.-]+:)$/i.test(part));
    const name = parts.pop() ?? path;
    const own = name.endsWith(".tar") ? name.slice(0, -".tar".length) : name;
    return [...parts.slice(-MOST_PARENTS), own || name];
  });
  for (let length = 1; length <= MOST_PARENTS + 1; length++) {
    const directories = all.map((parts) => parts.slice(-length));
    if (areApart(directories)) return directories;
  }
  const names = new Set<string>();
  return all.map((parts) => {
    const own = parts.at(-1)!;
    let name = own;
    for (let number = 2; names.has(name); number++) name = `${own}~${number}`;
    names.add(name);
    return [name];
  });
}

/** Whether no directory equals or contains another. */
function areApart(directories: readonly (readonly string[])[]): boolean {
  const paths = new Set(directories.map((parts) => parts.join("/")));
  const isAlone = (parts: readonly string[]) =>
    parts.every((_, i) => i === 0 || !paths.has(parts.slice(0, i).join("/")));
  return paths.size === directories.length && directories.every(isAlone);
}
