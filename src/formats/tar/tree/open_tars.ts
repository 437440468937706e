import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { directoriesOf } from "../../../io/storage/shards/shard_directories.ts";
import { storedIn } from "../../../io/storage/layered_storage.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { warnOfAll, warnOnConsole } from "../../../base/message_text.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../../tree/format.ts";
import { archiveInfo } from "../../../tree/archive/archive_info.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import { lostNotes, openShards } from "../../../tree/samples/open_shards.ts";
import type { Tree } from "../../../tree/tree.ts";
import { UnionTree } from "../../../tree/trees/union_tree.ts";
import { FILES, inShards, WEB_DATASET } from "../kinds.ts";
import { originOf } from "../read/heads.ts";
import { openIndex } from "../read/open_index.ts";
import { SampleGuess } from "../read/sample_guess.ts";
import {
  sampleCount,
  type TarColumns,
  type TarIndex,
} from "../read/tar_columns.ts";
import { widsFault } from "../read/wids.ts";
import { TarFiles } from "../read/tar_files.ts";
import { TarSamples } from "../read/tar_samples.ts";
import { TarSampleTree } from "./tar_sample_tree.ts";
import { tarPaths } from "./tar_paths.ts";
import { TarTree } from "./tar_tree.ts";

/** Opens a tar, or several as one. Throws `FormatError` if a tar is damaged or unsupported. */
export function* openTars(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { paths: all, areShards, wids = [] } = yield* tarPaths(path, storage);
  const { files, paths, isGrouped, guess } = yield* openTrees(
    all,
    storage,
    options,
  );
  const { trees } = files;
  try {
    const treeAt = new Map(paths.map((path, i) => [path, trees[i]]));
    for (const shard of wids) {
      const tree = treeAt.get(shard.path);
      const fault = tree && widsFault(shard, {
        size: tree.facts.size,
        samples: isGrouped ? sampleCount(tree.columns) : undefined,
      });
      if (fault !== undefined) warnOfAll([fault.message], options.onWarning);
    }
    const sampleView = options.sampleView === true && isGrouped;
    const shown = sampleView
      ? trees.map((tree) => new TarSampleTree(tree))
      : trees;
    const tree = areShards ? joinShards(paths, shown) : shown[0]!;
    if (sampleView) {
      warnOfOthers(path, trees.map(({ columns }) => columns), options);
    }
    const kind = isGrouped ? WEB_DATASET : FILES;
    const samples = isGrouped ? new TarSamples(files) : undefined;
    const info = archiveInfo(tree, trees, {
      format: "tar",
      kind: areShards ? inShards(kind) : kind,
      facts: samples === undefined ? {} : { samples: samples.shards.length },
      notes: guess.notes(isGrouped),
      parts: trees.map(({ facts, columns }, i) => ({
        path: storedIn(storage, paths[i]!),
        bytes: facts.size,
        samples: isGrouped ? sampleCount(columns) : fileCount(columns),
      })),
    }, lostNotes(files.table.lost));
    return {
      tree,
      samples,
      info: sampleView ? rowsInfo(info, tree, trees) : info,
    };
  } catch (error) {
    for (const tree of trees) tree.close();
    throw error;
  }
}

interface OpenedTars {
  readonly files: TarFiles;
  /** Paths of the undamaged ones. */
  readonly paths: readonly string[];
  readonly guess: SampleGuess;
  /** Whether files are grouped into samples: the tars look like WebDataset, or the caller requests it. */
  readonly isGrouped: boolean;
}

/** Opens tars in order, like {@linkcode openShards}. */
export function* openTrees(
  paths: readonly string[],
  storage: Storage,
  options: ContainerOptions,
): Steps<OpenedTars> {
  const { onWarning = warnOnConsole } = options;
  const { sources, shards, lost } = yield* openShards(
    storage,
    paths,
    function* (source, at) {
      const path = paths[at]!;
      const index = yield* openIndex(source, path, storage, options);
      for (const warning of index.warnings) onWarning(warning);
      return { path, index };
    },
  );
  const indexes = shards.map(({ index }) => index);
  const guess = new SampleGuess();
  for (const { groups, columns } of indexes) guess.add(groups, columns);
  const isGrouped = guess.isGrouped(options.format);
  const trees = indexes.map((index, at) =>
    treeOf(sources[at]!, storage, index, isGrouped)
  );
  const notes = [...lostNotes(lost), ...trees.flatMap(({ notes }) => notes)];
  warnOfAll(noteLines(notes), options.onWarning);
  return {
    files: new TarFiles(trees, storage, lost),
    paths: shards.map(({ path }) => path),
    guess,
    isGrouped,
  };
}

/** Creates the tree of an opened tar. `isGrouped` if its samples are WebDataset's instead of files. */
export function treeOf(
  archive: ByteSource,
  storage: Storage,
  index: TarIndex,
  isGrouped: boolean,
): TarTree {
  const { name: path, size, mtime } = archive;
  const { columns } = index;
  const origin = originOf(index);
  const facts = { columns, mtime, path, size, origin, isGrouped };
  return new TarTree(facts, { archive, storage }, { odd: index });
}

function joinShards(
  paths: readonly string[],
  trees: readonly Tree[],
): Tree {
  const directories = directoriesOf(paths, ".tar");
  const placed = trees.map((tree, i) => ({
    tree,
    path: directories[i]!,
    name: paths[i]!,
  }));
  return UnionTree.of(placed);
}

function warnOfOthers(
  path: string,
  columns: readonly TarColumns[],
  { onWarning = warnOnConsole }: ContainerOptions,
): void {
  const others = columns.reduce(
    (sum, { nodes, sampleRecords }) =>
      sum + nodes.length - sampleRecords.length,
    0,
  );
  if (others === 0) return;
  onWarning(
    `${path} has files that belong to no sample and are not in the ` +
      `sample view: ${others}`,
  );
}

/** Describes the sample view: samples, with all of their files. */
function rowsInfo(
  info: ContainerInfo,
  tree: Tree,
  trees: readonly TarTree[],
): ContainerInfo {
  const files = trees.reduce(
    (sum, { columns }) =>
      sum + sampleCount(columns) + columns.sampleRecords.length,
    0,
  );
  return { ...info, files, directories: tree.nodeCount - 1 - files };
}
