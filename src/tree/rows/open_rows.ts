import type { Steps } from "../../io/concurrency/steps.ts";
import { shardDirectories } from "../../io/storage/shard_paths.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { isReachedInThreads } from "../../io/storage/thread_storage.ts";
import type { Container, ContainerInfo, ContainerOptions } from "../format.ts";
import { warnOfAll } from "../../base/message_text.ts";
import { notedInfo, noteLines } from "../archive/archive_notes.ts";
import { lostNotes } from "../samples/open_shards.ts";
import { type RowFile, type RowFormat, rowsOf } from "./row_format.ts";
import { openRowSamples, type RowSamples } from "./row_samples.ts";
import { differenceOf } from "./shared_columns.ts";
import { RowTree } from "./row_tree.ts";

/**
 * Opens a file of rows, or several as one.
 *
 * @throws {FormatError} If a file is of a form that is not supported, or all are damaged.
 */
export function* openRows<F extends RowFile>(
  format: RowFormat<F>,
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { checkData = true } = options;
  const { paths, areShards } = yield* format.paths(path, storage);
  const samples = yield* openRowSamples(format, paths, storage, options);
  const { sources, shards: table } = samples;
  const notes = lostNotes(table.lost);
  const odd = noteLines(notes);
  const difference = differenceOf(table.shards, samples.fields);
  if (difference !== undefined) odd.push(difference);
  warnOfAll(odd, options.onWarning);
  const tree = new RowTree(format, sources, table, {
    shards: areShards
      ? shardDirectories(table.paths, format.suffix)
      : undefined,
    checkData,
    isReached: isReachedInThreads(storage),
  });
  const { shards: files, length } = table;
  const keys = keysOf(format, samples);
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
      format: format.name,
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
function keysOf<F extends RowFile>(
  format: RowFormat<F>,
  { fields, shards: { shards: files } }: RowSamples<F>,
): NonNullable<ContainerInfo["keys"]> {
  return fields.map(({ name, type, numbers }) => {
    let [records, bytes] = [0, 0];
    for (const [i, number] of numbers.entries()) {
      if (number < 0) continue;
      records += rowsOf(files[i]!);
      bytes += format.bytesOf(files[i]!, number);
    }
    return { name, type: type.name, records, bytes };
  });
}
