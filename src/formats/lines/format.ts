import type { Steps } from "../../io/concurrency/steps.ts";
import {
  type ShardPaths,
  shardPaths,
} from "../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { Format } from "../format.ts";
import { checkRows } from "./check.ts";
import { isNamedSo, type LineKind } from "./kinds.ts";
import { openRows } from "./tree/open_rows.ts";

/** Returns the implementation of a kind of lines. */
export function formatOf(kind: LineKind): Format {
  const { title, unit, suffixes: [suffix] } = kind;
  /** Finds the files of a location; throws FormatError if a directory has none, or fewer than their names say. */
  const pathsOf = (path: string, storage: Storage): Steps<ShardPaths> =>
    shardPaths(path, storage, {
      format: title,
      examples: `x${suffix} or x-00000-of-00010${suffix}`,
      isShard: (name) => isNamedSo(kind, name),
    });
  return {
    open: (path, options) => openRows(kind, path, pathsOf, options),
    *patternPaths(pattern, storage) {
      return (yield* pathsOf(pattern, storage)).paths;
    },
    check: (path, options) => checkRows(kind, path, pathsOf, options),
    async openSource(container) {
      const { RecordSource } = await import("../../convert/from/source.ts");
      return new RecordSource(container, title, `${unit}s`);
    },
  };
}

/** Finds the files of a location. */
export type FindPaths = (path: string, storage: Storage) => Steps<ShardPaths>;
