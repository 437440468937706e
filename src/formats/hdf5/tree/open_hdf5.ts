import { warnOfAll } from "../../../base/message_text.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { shardDirectories } from "../../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { archiveInfo } from "../../../tree/archive/archive_info.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { differenceOf } from "../../../tree/rows/shared_columns.ts";
import { RowSamples } from "../../../tree/rows/row_samples.ts";
import { keysOf, rowsContainer } from "../../../tree/rows/open_rows.ts";
import { rowsOf } from "../../../tree/rows/row_format.ts";
import { lostNotes, openShards } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { UnionTree } from "../../../tree/trees/union_tree.ts";
import { SUFFIX } from "../layout.ts";
import { HDF5_ROWS } from "../read/hdf5_rows.ts";
import { type ReadFile, readFile } from "../read/read_file.ts";
import type { Hdf5Rows } from "../read/row_cells.ts";
import { Hdf5Tree } from "./hdf5_tree.ts";

/** Opens a file, or several as one. Throws `FormatError` if the objects of the only file, or of all, cannot be listed. */
export function* openHdf5(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK, sampleView = false } = options;
  const { paths, areShards } = yield* HDF5_ROWS.paths(path, storage);
  const { sources, shards, lost } = yield* openShards(
    storage,
    paths,
    (source) => readFile(source, options),
  );
  const trees = shards.map((shard) => treeOf(shard, storage));
  const files = rowFiles(shards);
  const samples = files && new RowSamples<Hdf5Rows>(
    HDF5_ROWS,
    sources,
    new ShardTable(files, rowsOf, lost),
    storage,
    options,
  );
  const notes = trees.flatMap(({ notes }) => notes);
  if (samples !== undefined && sampleView) {
    return rowsContainer(HDF5_ROWS, samples, { areShards }, options, notes);
  }
  const odd = noteLines([...lostNotes(lost), ...notes]);
  const difference = samples && differenceOf(files!, samples.fields);
  if (difference !== undefined) odd.push(difference);
  warnOfAll(odd, options.onWarning);
  const names = shardDirectories(sources.map(({ name }) => name), SUFFIX);
  const tree = areShards
    ? UnionTree.of(trees.map((tree, i) => ({
      tree,
      path: [names[i]!],
      name: sources[i]!.name,
    })))
    : trees[0]!;
  const kind = samples === undefined ? "arrays" : "rows";
  const info = archiveInfo(tree, trees, {
    format: "hdf5",
    kind: areShards ? `${kind} in shards` : kind,
    facts: samples === undefined ? {} : { rows: samples.shards.length },
    parts: trees.map(({ columns }, i) => ({
      path: sources[i]!.name,
      bytes: sources[i]!.size,
      samples: columns.rows ?? fileCount(columns),
    })),
  }, lostNotes(lost));
  if (samples === undefined) return { tree, info };
  const keys = keysOf(HDF5_ROWS, samples);
  return { tree, samples, info: { ...info, keys } };
}

function treeOf(
  { file, catalog, skipped, rows }: ReadFile,
  storage: Storage,
): Hdf5Tree {
  const { entries, links } = catalog;
  const columns = {
    ...catalog,
    faults: Uint8Array.from(entries, ({ why }) => why ? 1 : 0),
    linkLengths: sharedUint32(
      Array.from(links, (record) => entries[record]!.at),
    ),
    rows: rows && rows.firsts[1],
  };
  return new Hdf5Tree({ file, storage, columns, skipped });
}

/** Returns the rows of files; `undefined` unless all have some. */
function rowFiles(shards: readonly ReadFile[]): Hdf5Rows[] | undefined {
  const files = shards.flatMap(({ file: { source }, rows }) => {
    const { name: path, size, mtime } = source;
    return rows === undefined ? [] : [{ ...rows, path, size, mtime }];
  });
  return files.length === shards.length ? files : undefined;
}
