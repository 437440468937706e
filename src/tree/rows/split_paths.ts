import { FormatError } from "../../base/errors.ts";
import { messageOf } from "../../base/message_text.ts";
import { type JsonValue, parseJsonFile } from "../../codecs/json/value.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { bracePaths } from "../../io/storage/shards/brace_locations.ts";
import { SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";
import {
  type ShardNames,
  shardPaths,
} from "../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { pathIn } from "../../io/storage/stored_location.ts";
import type { RowPaths } from "./row_format.ts";

/** Largest list of splits, in bytes. */
const LARGEST = 1 << 16;
/** Names of splits, which are directories: `_split_re` in `datasets/naming.py`. */
const SPLIT = /^[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*$/u;

/** Shards, and the file in a directory of directories of shards that lists these. */
export interface SplitNames extends ShardNames {
  readonly splitsFile: string;
}

/**
 * Finds the files of a location as {@linkcode shardPaths} does, or those of all splits of a directory.
 *
 * @throws {FormatError} If the list of splits is damaged, or a split is missing.
 */
export function* splitPaths(
  path: string,
  storage: Storage,
  names: SplitNames,
): Steps<RowPaths> {
  const { splitsFile } = names;
  const isPattern = SHARD_PATTERN.test(path) ||
    (yield* bracePaths(path, storage)) !== undefined;
  const entries = isPattern ? undefined : yield* storage.list(path);
  if (!entries?.includes(splitsFile)) {
    return yield* shardPaths(path, storage, names);
  }
  const splits: { name: string; paths: readonly string[] }[] = [];
  for (const name of yield* splitsIn(pathIn(path, splitsFile), storage)) {
    const directory = pathIn(path, name);
    if (!entries.includes(name)) {
      throw new FormatError(
        "missing-shard",
        `Cannot open ${path}: ${splitsFile} lists the split ${name}, and there is no such directory. Download it, or open another split`,
        { path: directory },
      );
    }
    const { paths } = yield* shardPaths(directory, storage, names);
    splits.push({ name, paths });
  }
  const paths = splits.flatMap(({ paths }) => paths);
  return { paths, areShards: true, splits };
}

/** Reads the names of splits, in their order. */
function* splitsIn(path: string, storage: Storage): Steps<string[]> {
  const wrong = (why: string, cause?: unknown) =>
    new FormatError(
      "bad-structure",
      `Cannot read the splits in ${path}: ${why}. Download it again, or open a split`,
      { path, cause },
    );
  const source = yield* openFile(storage, path);
  using _ = { [Symbol.dispose]: () => source.close() };
  const { size } = source;
  if (size > LARGEST) {
    throw wrong(`it has ${size} bytes, and may have ${LARGEST}`);
  }
  let value: JsonValue;
  try {
    value = parseJsonFile(yield* readPart(source, 0, size));
  } catch (error) {
    if (error instanceof FormatError) throw error;
    throw wrong(`it is not JSON: ${messageOf(error)}`, error);
  }
  const { splits } = Object(value) as { splits?: JsonValue };
  const areNames = Array.isArray(splits) && splits.length > 0 &&
    new Set(splits).size === splits.length &&
    splits.every((name) => typeof name === "string" && SPLIT.test(name));
  if (!areNames) throw wrong("`splits` is not a list of different names");
  return splits as string[];
}
