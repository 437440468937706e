import { FormatError, RecordfsError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { openSources } from "../../../io/storage/open_sources.ts";
import { pathIn } from "../../../io/storage/place.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { warnOfAll, warnOnConsole } from "../../../message_text.ts";
import { sortNames } from "../../../names.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { notedInfo, noteLines } from "../../../tree/archive/archive_notes.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import type { Tree } from "../../../tree/tree.ts";
import { UnionTree } from "../../../tree/union_tree.ts";
import { FILES, inShards, isShard, PATTERN, WEB_DATASET } from "../entry.ts";
import { originOf } from "../read/heads.ts";
import { openIndex } from "../read/open_index.ts";
import {
  isWebDataset,
  sampleCount,
  type TarColumns,
  type TarIndex,
} from "../read/tar_columns.ts";
import { SampleRows } from "./sample_rows.ts";
import { TarTree } from "./tar_tree.ts";

/** Most shards that one pattern names. */
const MOST_SHARDS = 1_000_000;

/** Where the tars of a container lie. */
export interface TarPaths {
  readonly paths: readonly string[];
  /** Whether they are the shards of one, each in a directory of its own; otherwise there is but one. */
  readonly areShards: boolean;
}

/**
 * Finds the tars of a location: itself, or those in the directory, in the order of their names; or those that a pattern
 * such as `train-{000000..000146}.tar` names.
 *
 * @throws {FormatError} If a directory has none.
 */
export function* tarPaths(path: string, storage: Storage): Steps<TarPaths> {
  const parts = PATTERN.exec(path);
  if (parts !== null && !(yield* isThere(path, storage))) {
    return { paths: expand(path, parts), areShards: true };
  }
  const names = yield* storage.list(path);
  if (names === undefined) return { paths: [path], areShards: false };
  const shards = sortNames(names.filter(isShard));
  if (shards.length === 0) {
    throw new FormatError(
      "missing-shard",
      `${path} has no file whose name ends in .tar: name the directory of the shards, or a shard`,
      { path },
    );
  }
  return {
    paths: shards.map((name) => pathIn(path, name)),
    areShards: true,
  };
}

/** Whether something has the pattern for its own name; where that is not told, it is a pattern. */
function* isThere(path: string, storage: Storage): Steps<boolean> {
  try {
    return (yield* storage.stat(path)) !== undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return false;
    throw error;
  }
}

function expand(path: string, parts: RegExpExecArray): string[] {
  const [, before, first, last, after] = parts as unknown as string[];
  const [from, to] = [Number(first), Number(last)];
  const count = to - from + 1;
  if (count < 1 || count > MOST_SHARDS) {
    throw new FormatError(
      "absurd-count",
      `${path} names ${
        Math.max(count, 0)
      } shards: write the number of the first one, two dots, and that of the last`,
      { path, actual: count },
    );
  }
  return Array.from(
    { length: count },
    (_, i) =>
      `${before}${String(from + i).padStart(first!.length, "0")}${after}`,
  );
}

/** The trees of opened containers, tar by tar: whoever reads samples asks for them. */
const opened = new WeakMap<Tree, readonly TarTree[]>();

/** The tars that a tree is of, in their order; `undefined` where it is none that was opened here. */
export function tarsOf(tree: Tree): readonly TarTree[] | undefined {
  return opened.get(tree);
}

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
  const trees = yield* openTrees(paths, storage, options);
  try {
    const columns = trees.map(({ columns }) => columns);
    const asRows = options.asRows === true && columns.every(isWebDataset);
    const shown = asRows ? trees.map((tree) => new SampleRows(tree)) : trees;
    const tree = areShards ? joinShards(paths, shown) : shown[0]!;
    opened.set(tree, trees);
    if (asRows) warnOfOthers(path, columns, options);
    return containerOf(tree, paths, trees, areShards, asRows);
  } catch (error) {
    for (const tree of trees) tree.close();
    throw error;
  }
}

/** Opens tars, in their order; all are closed if one can't be. */
export function* openTrees(
  paths: readonly string[],
  storage: Storage,
  options: ContainerOptions,
): Steps<TarTree[]> {
  const { onWarning = warnOnConsole } = options;
  const trees: TarTree[] = [];
  yield* openSources(storage, paths, function* (source, at) {
    const index = yield* openIndex(source, paths[at]!, storage, options);
    for (const warning of index.warnings) onWarning(warning);
    trees[at] = treeOf(source, storage, index);
  });
  const notes = trees.flatMap(({ notes }) => notes);
  warnOfAll(noteLines(notes), options.onWarning);
  return trees;
}

/** An opened tar as a tree. */
export function treeOf(
  archive: ByteSource,
  storage: Storage,
  index: TarIndex,
): TarTree {
  const { name: path, size, mtime } = archive;
  const { columns } = index;
  const facts = { columns, mtime, path, size, origin: originOf(index) };
  return new TarTree(facts, { archive, storage }, { odd: index });
}

/** Each shard is a directory of its name without suffix. */
function joinShards(
  paths: readonly string[],
  trees: readonly Tree[],
): Tree {
  const placed = trees.map((tree, i) => {
    const name = paths[i]!;
    return { tree, path: [shardName(name)], name };
  });
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

function shardName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(0, -".tar".length) || name;
}

function containerOf(
  tree: Tree,
  paths: readonly string[],
  trees: readonly TarTree[],
  areShards: boolean,
  asRows: boolean,
): Container {
  const columns = trees.map((tree) => tree.columns);
  const files = columns.reduce((sum, one) => sum + fileCount(one), 0);
  const links = columns.reduce((sum, one) => sum + one.links.length, 0);
  const records = columns.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const samples = columns.reduce((sum, one) => sum + sampleCount(one), 0);
  const gathered = columns.reduce(
    (sum, { sampleRecords }) => sum + sampleRecords.length,
    0,
  );
  const isWeb = columns.length > 0 && columns.every(isWebDataset);
  const kind = isWeb ? WEB_DATASET : FILES;
  const parts = trees.map(({ facts, columns }, i) => ({
    path: paths[i]!,
    bytes: facts.size,
    samples: isWeb ? sampleCount(columns) : fileCount(columns),
  }));
  const { facts: odd, ...noted } = notedInfo(
    trees.flatMap(({ notes }) => notes),
  );
  const facts = {
    ...isWeb ? { samples } : {},
    ...links > 0 ? { links } : {},
    ...odd,
  };
  return {
    tree,
    info: {
      format: "tar",
      kind: areShards ? inShards(kind) : kind,
      files: asRows ? samples + gathered : files,
      directories: tree.nodeCount - 1 -
        (asRows ? samples + gathered : records),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      ...Object.keys(facts).length > 0 ? { facts } : {},
      ...noted,
      parts,
    },
  };
}
