import type { Steps } from "../../../io/concurrency/steps.ts";
import { shardDirectories } from "../../../io/storage/shard_paths.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { isReachedInThreads } from "../../../io/storage/thread_storage.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../../tree/format.ts";
import { Chunk } from "../read/footer.ts";
import {
  openFiles,
  type ParquetFile,
  parquetPaths,
  rowsOf,
  type RowTable,
} from "../read/parquet_files.ts";
import { fieldNames } from "../values/column_names.ts";
import { typeName } from "./cell_view.ts";
import { RowTree } from "./row_tree.ts";

/**
 * Opens a file, or several as one.
 *
 * @throws {FormatError} If one is damaged or encrypted.
 */
export function* openParquet(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { checkData = true } = options;
  const { paths, areShards } = yield* parquetPaths(path, storage);
  const { sources, table } = yield* openFiles(paths, storage);
  const tree = new RowTree(sources, table, {
    shards: areShards
      ? shardDirectories(paths, /\.(parquet|parq)$/i)
      : undefined,
    checkData,
    isReached: isReachedInThreads(storage),
  });
  const { files, length } = table;
  const parts = files.map((file, i) => ({
    path: paths[i]!,
    bytes: file.size,
    samples: rowsOf(file),
  }));
  return {
    tree,
    info: {
      format: "parquet",
      kind: areShards ? "rows in shards" : "rows",
      files: files.reduce(
        (sum, file) => sum + rowsOf(file) * file.columns.length,
        0,
      ),
      directories: (areShards ? paths.length : 0) + length,
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      facts: { rows: length, columns: files[0]?.columns.length ?? 0 },
      keys: keysOf(table),
      parts,
    },
  };
}

/** The columns of the first file, with what they take in all that have such. */
function keysOf(
  { files, length }: RowTable,
): NonNullable<ContainerInfo["keys"]> {
  const [first] = files;
  if (first === undefined) return [];
  const names = fieldNames(first.columns);
  return first.columns.map((column, i) => ({
    name: names[i]!,
    type: typeName(column),
    records: length,
    bytes: files.reduce((sum, file) => sum + bytesOf(file, i), 0),
  }));
}

/** Bytes of a column of a file, as they are stored. */
function bytesOf(
  { columns, chunks, leaves, firsts }: ParquetFile,
  column: number,
): number {
  const field = columns[column];
  if (field === undefined) return 0;
  let bytes = 0;
  for (let group = 0; group + 1 < firsts.length; group++) {
    for (let leaf = field.leaf; leaf < field.leaf + field.leaves; leaf++) {
      bytes += chunks[(group * leaves + leaf) * Chunk.FIELDS + Chunk.LENGTH]!;
    }
  }
  return bytes;
}
