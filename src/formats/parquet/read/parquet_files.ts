import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  type ShardPaths,
  shardPaths,
} from "../../../io/storage/shard_paths.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { openSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { lastUpTo, sharedFloat64 } from "../../../tree/shared_numbers.ts";
import { isNamedSo } from "../layout.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { readFooter } from "./footer.ts";
import type { ParquetIndex } from "./parquet_index.ts";

/** Finds the files of a location: itself, those in the directory, or those that a pattern names. */
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

/** A file, as another thread opens it again. */
export interface ParquetFile extends ParquetIndex, KnownFile {}

/** Rows of one file or of several, numbered from 0 over all of them. */
export class RowTable {
  readonly files: readonly ParquetFile[];
  /** Per file, and once more for all: the number of its first row. */
  readonly firsts: Float64Array;

  constructor(files: readonly ParquetFile[]) {
    this.files = files;
    this.firsts = sharedFloat64(files.length + 1);
    for (const [i, file] of files.entries()) {
      this.firsts[i + 1] = this.firsts[i]! + rowsOf(file);
    }
  }

  /** Number of rows. */
  get length(): number {
    return this.firsts.at(-1)!;
  }

  /** Number of the file that a row is in. */
  fileOf(row: number): number {
    return lastUpTo(this.firsts, row, this.files.length);
  }
}

/** Number of rows of a file. */
export function rowsOf({ firsts }: ParquetIndex): number {
  return firsts.at(-1)!;
}

/** Opened files, and their rows. */
export interface OpenedFiles {
  readonly sources: readonly ByteSource[];
  readonly table: RowTable;
}

/**
 * Opens files, in their order; all are closed if one can't be.
 *
 * @param onWarning Called with what is odd in their footers, but readable.
 */
export function* openFiles(
  paths: readonly string[],
  storage: Storage,
  onWarning: (message: string) => void = warnOnConsole,
): Steps<OpenedFiles> {
  const files: ParquetFile[] = [];
  const sources = yield* openSources(storage, paths, function* (source, at) {
    const index = yield* readFooter(source, onWarning);
    const { name, size, mtime } = source;
    files[at] = { ...index, path: name, size, mtime };
  });
  return { sources, table: new RowTable(files) };
}
