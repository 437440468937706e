import { FormatError } from "../../../base/errors.ts";
import { messageOf } from "../../../base/message_text.ts";
import { type JsonValue, parseJsonFile } from "../../../codecs/json/value.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { openFile } from "../../../io/storage/open_file.ts";
import { shardPaths } from "../../../io/storage/shard_paths.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import type { RowPaths } from "../../../tree/rows/row_format.ts";
import { isNamedSo, SPLITS_FILE } from "../layout.ts";

const NAMES = {
  format: "Arrow",
  examples: "x.arrow",
  isShard: isNamedSo,
};

/** Largest list of splits, in bytes. */
const LARGEST = 1 << 16;
/** Names of splits, which are directories: `_split_re` in `datasets/naming.py`. */
const SPLIT = /^[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*$/u;

/**
 * Finds the files of a location, and of all splits of a directory that `DatasetDict.save_to_disk` has written.
 *
 * @throws {FormatError} If the list of splits is damaged, or a split is missing.
 */
export function* arrowPaths(path: string, storage: Storage): Steps<RowPaths> {
  const names = yield* storage.list(path);
  if (!names?.includes(SPLITS_FILE)) {
    return yield* shardPaths(path, storage, NAMES);
  }
  const splits: { name: string; paths: readonly string[] }[] = [];
  for (const name of yield* splitsIn(pathIn(path, SPLITS_FILE), storage)) {
    const directory = pathIn(path, name);
    if (!names.includes(name)) {
      throw new FormatError(
        "missing-shard",
        `Cannot open ${path}: ${SPLITS_FILE} lists the split ${name}, and there is no such directory. Download it, or open another split`,
        { path: directory },
      );
    }
    const { paths } = yield* shardPaths(directory, storage, NAMES);
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
