import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  type ShardPaths,
  shardPaths,
} from "../../../io/storage/shard_paths.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { isNamedSo } from "../layout.ts";
import type { ParquetIndex } from "./parquet_index.ts";

/** Finds the files of a location: itself, those in the directory, or those that match a pattern. */
export function parquetPaths(
  path: string,
  storage: Storage,
): Steps<ShardPaths> {
  return shardPaths(path, storage, {
    format: "Parquet",
    examples: "x.parquet",
    isShard: isNamedSo,
  });
}

/** Data with which another thread reopens a file. */
export interface ParquetFile extends ParquetIndex, KnownFile {}

/** Rows of one or several files, with consecutive indices. */
export class RowTable extends ShardTable<ParquetFile> {
  /** @param lost Damaged files that are skipped. */
  constructor(files: readonly ParquetFile[], lost?: readonly LostShard[]) {
    super(files, rowsOf, lost);
  }
}

export function rowsOf({ firsts }: ParquetIndex): number {
  return firsts.at(-1)!;
}
