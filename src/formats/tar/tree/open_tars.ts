import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { openSources } from "../../../io/storage/open_sources.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { warnOfAll, warnOnConsole } from "../../../base/message_text.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import {
  type ArchiveNotes,
  notedInfo,
  noteLines,
} from "../../../tree/archive/archive_notes.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import type { Tree } from "../../../tree/tree.ts";
import { UnionTree } from "../../../tree/union_tree.ts";
import { FILES, inShards, WEB_DATASET } from "../kinds.ts";
import { originOf } from "../read/heads.ts";
import { openIndex } from "../read/open_index.ts";
import { SampleGuess } from "../read/sample_guess.ts";
import {
  sampleCount,
  type TarColumns,
  type TarIndex,
} from "../read/tar_columns.ts";
import { TarFiles } from "../read/tar_files.ts";
import { TarSamples } from "../read/tar_samples.ts";
import { SampleRows } from "./sample_rows.ts";
import { tarDirectories, tarPaths } from "./tar_paths.ts";
import { TarTree } from "./tar_tree.ts";

/**
 * Opens a tar, or several as one.
 *
 * @throws {FormatError} If one is damaged, or has what is not supported.
 */
export function* openTars(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const storage = options.storage ?? LOCAL_DISK;
  const { paths, areShards } = yield* tarPaths(path, storage);
  const { trees, notes, isGrouped, guess } = yield* openTrees(
    paths,
    storage,
    options,
  );
  try {
    const asRows = options.asRows === true && isGrouped;
    const shown = asRows ? trees.map((tree) => new SampleRows(tree)) : trees;
    const tree = areShards ? joinShards(paths, shown) : shown[0]!;
    if (asRows) {
      warnOfOthers(path, trees.map(({ columns }) => columns), options);
    }
    const kind = isGrouped ? WEB_DATASET : FILES;
    const samples = isGrouped
      ? new TarSamples(new TarFiles(trees, storage))
      : undefined;
    return containerOf(tree, samples, {
      paths,
      trees,
      kind: areShards ? inShards(kind) : kind,
      isGrouped,
      asRows,
      notes,
      oddities: guess.notes(isGrouped),
    });
  } catch (error) {
    for (const tree of trees) tree.close();
    throw error;
  }
}

/** Tars that were opened. */
interface OpenedTars {
  readonly trees: readonly TarTree[];
  /** What of them is not served as it is. */
  readonly notes: readonly ArchiveNotes[];
  /** What they are together. */
  readonly guess: SampleGuess;
  /** Whether their files are gathered to samples: they seem to be WebDataset's, or the caller says so. */
  readonly isGrouped: boolean;
}

/** Opens tars, in their order; all are closed if one can't be. */
export function* openTrees(
  paths: readonly string[],
  storage: Storage,
  options: ContainerOptions,
): Steps<OpenedTars> {
  const { onWarning = warnOnConsole } = options;
  const indexes: TarIndex[] = [];
  const sources = yield* openSources(storage, paths, function* (source, at) {
    indexes[at] = yield* openIndex(source, paths[at]!, storage, options);
    for (const warning of indexes[at].warnings) onWarning(warning);
  });
  const guess = new SampleGuess();
  for (const { groups, columns } of indexes) guess.add(groups, columns);
  const isGrouped = guess.isGrouped(options.format);
  const trees = indexes.map((index, at) =>
    treeOf(sources[at]!, storage, index, isGrouped)
  );
  const notes = trees.flatMap(({ notes }) => notes);
  warnOfAll(noteLines(notes), options.onWarning);
  return { trees, notes, guess, isGrouped };
}

/**
 * An opened tar as a tree.
 *
 * @param isGrouped Whether its samples are those of WebDataset, and not the files.
 */
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

/** Each shard is a directory. */
function joinShards(
  paths: readonly string[],
  trees: readonly Tree[],
): Tree {
  const directories = tarDirectories(paths);
  const placed = trees.map((tree, i) => ({
    tree,
    path: directories[i]!,
    name: paths[i]!,
  }));
  return UnionTree.of(placed);
}

/** Says how many files are not among the samples. */
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
    `${path} has files that are of no sample, which are not shown among the rows: ${others}`,
  );
}

function containerOf(
  tree: Tree,
  samples: TarSamples | undefined,
  { paths, trees, kind, isGrouped, asRows, notes, oddities }: {
    readonly paths: readonly string[];
    readonly trees: readonly TarTree[];
    readonly kind: string;
    readonly isGrouped: boolean;
    readonly asRows: boolean;
    readonly notes: readonly ArchiveNotes[];
    readonly oddities: readonly string[];
  },
): Container {
  const columns = trees.map((tree) => tree.columns);
  const files = columns.reduce((sum, one) => sum + fileCount(one), 0);
  const links = columns.reduce((sum, one) => sum + one.links.length, 0);
  const records = columns.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const count = columns.reduce((sum, one) => sum + sampleCount(one), 0);
  const gathered = columns.reduce(
    (sum, { sampleRecords }) => sum + sampleRecords.length,
    0,
  );
  const parts = trees.map(({ facts, columns }, i) => ({
    path: paths[i]!,
    bytes: facts.size,
    samples: isGrouped ? sampleCount(columns) : fileCount(columns),
  }));
  const { facts: odd, ...noted } = notedInfo(notes);
  const facts = {
    ...isGrouped ? { samples: count } : {},
    ...links > 0 ? { links } : {},
    ...odd,
  };
  return {
    tree,
    samples,
    info: {
      format: "tar",
      kind,
      files: asRows ? count + gathered : files,
      directories: tree.nodeCount - 1 -
        (asRows ? count + gathered : records),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      ...Object.keys(facts).length > 0 ? { facts } : {},
      ...noted,
      ...oddities.length > 0 ? { notes: oddities } : {},
      parts,
    },
  };
}
