import type { Steps } from "../../io/concurrency/steps.ts";
import { shardDirectories } from "../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { isReachedInThreads } from "../../io/storage/thread_storage.ts";
import type { Container, ContainerInfo, ContainerOptions } from "../format.ts";
import { warnOfAll } from "../../base/message_text.ts";
import {
  type ArchiveNotes,
  damageNotes,
  notedInfo,
  noteLines,
} from "../archive/archive_notes.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { lostNotes } from "../samples/open_shards.ts";
import { ShardTable } from "../samples/shard_table.ts";
import { UnionTree } from "../trees/union_tree.ts";
import {
  type RowFile,
  type RowFormat,
  type RowPaths,
  rowsOf,
} from "./row_format.ts";
import { openRowSamples, type RowSamples } from "./row_samples.ts";
import { differenceOf } from "./shared_columns.ts";
import type { Tree } from "../tree.ts";
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
  const found = yield* format.paths(path, storage);
  const samples = yield* openRowSamples(format, found.paths, storage, options);
  return rowsContainer(format, samples, found, options);
}

/**
 * Makes the container of rows: a directory each.
 *
 * @param others Notes on what else the files have.
 */
export function rowsContainer<F extends RowFile>(
  format: RowFormat<F>,
  samples: RowSamples<F>,
  { areShards, splits }: Pick<RowPaths, "areShards" | "splits">,
  { checkData = true, onWarning }: ContainerOptions,
  others: readonly ArchiveNotes[] = [],
): Container {
  const { sources, shards: table, storage } = samples;
  const notes = [
    ...lostNotes(table.lost),
    ...table.shards.flatMap(({ path, damage }) =>
      damage ? [damageNotes(path, damage)] : []
    ),
    ...others,
  ];
  const odd = noteLines(notes);
  const difference = differenceOf(table.shards, samples.fields);
  if (difference !== undefined) odd.push(difference);
  warnOfAll(odd, onWarning);
  const shown = { checkData, isReached: isReachedInThreads(storage) };
  const treeOf = (sources: readonly ByteSource[], table: ShardTable<F>) =>
    new RowTree(format, sources, table, {
      ...shown,
      shards: areShards
        ? shardDirectories(table.paths, format.suffix)
        : undefined,
    });
  let tree: Tree;
  try {
    tree = splits === undefined
      ? treeOf(sources, table)
      : splitTree(splits, samples, treeOf);
  } catch (error) {
    samples.close();
    throw error;
  }
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
      kind: splits ? "rows in splits" : areShards ? "rows in shards" : "rows",
      files: files.reduce(
        (sum, file) => sum + rowsOf(file) * file.columns.length,
        0,
      ),
      directories: (splits?.length ?? 0) + (areShards ? files.length : 0) +
        length,
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      facts: { rows: length, columns: keys.length, ...lost },
      ...noted,
      keys,
      parts,
    },
  };
}

/** Shows each split as a directory. */
function splitTree<F extends RowFile>(
  splits: NonNullable<RowPaths["splits"]>,
  { sources, shards: { shards } }: RowSamples<F>,
  treeOf: (sources: readonly ByteSource[], table: ShardTable<F>) => Tree,
): Tree {
  return UnionTree.of(splits.map(({ name, paths }) => {
    const own = [...shards.keys()]
      .filter((i) => paths.includes(shards[i]!.path));
    const table = new ShardTable(own.map((i) => shards[i]!), rowsOf);
    const tree = treeOf(own.map((i) => sources[i]!), table);
    return { tree, path: [name], name };
  }));
}

/** Describes the columns of all files: the type in the first file that has them, and their size in all. */
export function keysOf<F extends RowFile>(
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
