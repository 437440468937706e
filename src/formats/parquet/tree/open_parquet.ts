import type { Steps } from "../../../io/concurrency/steps.ts";
import { shardDirectories } from "../../../io/storage/shard_paths.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { isReachedInThreads } from "../../../io/storage/thread_storage.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../../tree/format.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { notedInfo, noteLines } from "../../../tree/archive/archive_notes.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import { Chunk } from "../read/parquet_index.ts";
import {
  type ParquetFile,
  parquetPaths,
  rowsOf,
} from "../read/parquet_files.ts";
import { openRowSamples, type RowSamples } from "../read/row_samples.ts";
import { differenceOf } from "../read/shared_columns.ts";
import { RowTree } from "./row_tree.ts";

/** Opens a file, or several as one. Throws `FormatError` if a file is encrypted, or all are damaged. */
export function* openParquet(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { checkData = true } = options;
  const { paths, areShards } = yield* parquetPaths(path, storage);
  const samples = yield* openRowSamples(paths, storage, options);
  const { sources, shards: table } = samples;
  const notes = lostNotes(table.lost);
  const odd = noteLines(notes);
  const difference = differenceOf(table.shards, samples.fields);
  if (difference !== undefined) odd.push(difference);
  warnOfAll(odd, options.onWarning);
  const tree = new RowTree(sources, table, {
    shards: areShards
      ? shardDirectories(table.paths, /\.(parquet|parq)$/i)
      : undefined,
    checkData,
    isReached: isReachedInThreads(storage),
  });
  const { shards: files, length } = table;
  const keys = keysOf(samples);
  const { facts: lost, ...noted } = notedInfo(notes);
  const parts = files.map((file) => ({
    path: file.path,
    bytes: file.size,
    samples: rowsOf(file),
  }));
  return {
    tree,
    samples,
    info: {
      format: "parquet",
      kind: areShards ? "rows in shards" : "rows",
      files: files.reduce(
        (sum, file) => sum + rowsOf(file) * file.columns.length,
        0,
      ),
      directories: (areShards ? files.length : 0) + length,
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      facts: { rows: length, columns: keys.length, ...lost },
      ...noted,
      keys,
      parts,
    },
  };
}

/** Describes the columns of all files: the type in the first file that has them, and their size in all. */
function keysOf(
  { fields, shards: { shards: files } }: RowSamples,
): NonNullable<ContainerInfo["keys"]> {
  return fields.map(({ name, type, numbers }) => {
    let [records, bytes] = [0, 0];
    for (const [i, number] of numbers.entries()) {
      if (number < 0) continue;
      records += rowsOf(files[i]!);
      bytes += bytesOf(files[i]!, number);
    }
    return { name, type: type.name, records, bytes };
  });
}

/** Returns the stored bytes of a column of a file. */
function bytesOf(
  { columns, chunks, leaves, firsts }: ParquetFile,
  column: number,
): number {
  const field = columns[column]!;
  let bytes = 0;
  for (let group = 0; group + 1 < firsts.length; group++) {
    for (let leaf = field.leaf; leaf < field.leaf + field.leaves; leaf++) {
      bytes += chunks[(group * leaves + leaf) * Chunk.FIELDS + Chunk.LENGTH]!;
    }
  }
  return bytes;
}
