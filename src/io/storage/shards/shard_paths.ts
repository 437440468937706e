import { FormatError } from "../../../base/errors.ts";
import { sortNames } from "../../../base/names.ts";
import type { Steps } from "../../concurrency/steps.ts";
import { bracePaths } from "./brace_locations.ts";
import { pathIn } from "../stored_location.ts";
import { SHARD, SHARD_PATTERN } from "./shard_names.ts";
import type { Storage } from "../storage.ts";

/** Most shards that a pattern may name. */
const MOST_SHARDS = 1_000_000;

export interface ShardPaths {
  readonly paths: readonly string[];
  /** Whether these are shards, each shown as a directory of its own. Otherwise there is a single file. */
  readonly areShards: boolean;
}

export interface ShardNames {
  readonly format: string;
  /** Examples of names, for messages: `x.tfrecord or x-00000-of-00010`. */
  readonly examples: string;
  isShard(name: string): boolean;
}

/**
 * Finds the files of a location: itself; the shards in a directory, sorted by name; or those that a pattern such as
 * `train-?????-of-00010` or `train-{00000..00009}` names. Throws a {@linkcode FormatError} if a directory has none, or fewer than their names
 * count.
 */
export function* shardPaths(
  path: string,
  storage: Storage,
  { format, examples, isShard }: ShardNames,
): Steps<ShardPaths> {
  const parts = SHARD_PATTERN.exec(path);
  if (parts !== null && (yield* storage.stat(path)) === undefined) {
    return { paths: yield* expand(path, parts, storage), areShards: true };
  }
  const paths = yield* bracePaths(path, storage);
  if (paths !== undefined) return { paths, areShards: true };
  const why =
    `it has no file of ${format}, such as ${examples}. Give the directory of the shards, or a file`;
  const shards = yield* shardsIn(path, storage, isShard, why);
  if (shards === undefined) return { paths: [path], areShards: false };
  requireAll(path, shards);
  return {
    paths: shards.map((name) => pathIn(path, name)),
    areShards: true,
  };
}

/**
 * Lists the shards of a directory, sorted by name; `undefined` if the path is not a directory. Throws a
 * {@linkcode FormatError} if there are none, with `missing` as the message.
 */
export function* shardsIn(
  path: string,
  storage: Storage,
  isShard: (name: string) => boolean,
  missing: string,
): Steps<string[] | undefined> {
  const names = yield* storage.list(path);
  if (names === undefined) return undefined;
  const shards = sortNames(names.filter(isShard));
  if (shards.length > 0) return shards;
  throw new FormatError("missing-shard", `Cannot open ${path}: ${missing}`, {
    path,
  });
}

/** Returns directory names for files: without the suffix if they stay unique. Files of one name get a number. */
export function shardDirectories(
  paths: readonly string[],
  suffix: RegExp,
): string[] {
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const short = names.map((name) => name.replace(suffix, "") || name);
  if (new Set(short).size === names.length) return short;
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let n = 2; taken.has(own); n++) own = `${name}~${n}`;
    taken.add(own);
    return own;
  });
}

/** Expands a pattern by its count, or by listing the directory if it has none. */
function* expand(
  path: string,
  parts: RegExpExecArray,
  storage: Storage,
): Steps<string[]> {
  const [, before, , count, after] = parts as unknown as string[];
  if (/^\d+$/.test(count!)) {
    const total = Number(count);
    if (total < 1 || total > MOST_SHARDS) {
      throw new FormatError(
        "absurd-count",
        `Cannot open ${path}: the pattern names ${total} shards. Write their number after -of-`,
        { path, actual: total },
      );
    }
    const width = Math.max(5, count!.length);
    return Array.from(
      { length: total },
      (_, i) =>
        `${before}-${String(i).padStart(width, "0")}-of-${count}${after}`,
    );
  }
  const slash = before!.lastIndexOf("/");
  const directory = slash < 0 ? "." : before!.slice(0, slash) || "/";
  const base = before!.slice(slash + 1);
  const names = (yield* storage.list(directory)) ?? [];
  const found = sortNames(names.filter((name) => {
    const shard = SHARD.exec(name);
    return shard !== null && shard[1] === base && shard[4] === after;
  }));
  if (found.length === 0) {
    throw new FormatError(
      "missing-shard",
      `Cannot open ${path}: no file in ${directory} matches`,
      { path },
    );
  }
  requireAll(directory, found);
  return found.map((name) => pathIn(directory, name));
}

/** Checks that all shards are present whose count the names state. */
function requireAll(path: string, names: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const name of names) {
    const shard = SHARD.exec(name);
    if (shard === null) continue;
    const of = `${shard[1]}-…-of-${shard[3]}${shard[4]}`;
    counts.set(of, (counts.get(of) ?? 0) + 1);
  }
  for (const [of, count] of counts) {
    const wanted = Number(/-of-(\d+)/.exec(of)![1]);
    if (count === wanted) continue;
    throw new FormatError(
      "missing-shard",
      `Cannot open ${path}: it has ${count} of the ${wanted} shards ${of}. Download the others, or give one file`,
      { path, expected: wanted, actual: count },
    );
  }
}
