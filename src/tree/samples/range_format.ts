import { warnOfAll } from "../../base/message_text.ts";
import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import {
  shardDirectories,
  type ShardNames,
  type ShardPaths,
  shardPaths,
} from "../../io/storage/shards/shard_paths.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import { damageNotes, notedInfo, noteLines } from "../archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../format.ts";
import type { SampleKeys } from "../names/sample_keys.ts";
import { nameSuffix } from "../names/numbered_names.ts";
import { lostNotes, openShards } from "./open_shards.ts";
import type { RangeSamples } from "./range_samples.ts";
import { rangeTree } from "./range_tree.ts";
import { InterleavedTable, ShardTable } from "./shard_table.ts";

/** A file of samples: plain data, and tables in memory that threads share. */
export interface RangeFile extends KnownFile {
  /** Number of samples. */
  readonly length: number;
  /** Variant within the format; that of the container is that of its first file with samples. */
  readonly kind: string;
  /** Counts by name, of which the container has the sums. */
  readonly facts: Readonly<Record<string, number>>;
  /** Keys by which samples are named; their numbers if absent. */
  readonly keys?: SampleKeys | undefined;
  /** JSON that is shown next to the samples, as `header.json`. */
  readonly header?: string | undefined;
  /** Why samples are missing. */
  readonly damage?: Pick<FormatError, "code" | "message"> | undefined;
}

/** What a format knows of containers whose samples are ranges of files. */
interface RangeLayout<S extends RangeFile> extends ShardNames {
  /** Value of `info.format`. */
  readonly name: string;
  /** Suffixes of files, which the names of their directories lack. */
  readonly suffixes: RegExp;
  /** Opens a file; closes what else it has opened if it throws. */
  openFile(
    source: ByteSource,
    options: ContainerOptions & { readonly storage: Storage },
  ): Steps<S>;
  samplesOf(
    sources: readonly ByteSource[],
    shards: ShardTable<S>,
    storage: Storage,
  ): RangeSamples<S>;
  /** Variant of the format that takes a sample of each file by turns. */
  readonly interleaved?: string;
  /** Returns the pattern of `shardPaths` for one in the format's own notation. */
  patternOf?(path: string): string;
}

/** Makes the parts of a format that open its containers: a file, the shards in a directory, or those of a pattern. */
export function rangeFormat<S extends RangeFile>(layout: RangeLayout<S>): {
  open(path: string, options: ContainerOptions): Steps<Container>;
  patternPaths(pattern: string, storage: Storage): Steps<readonly string[]>;
} {
  const { patternOf = (path) => path } = layout;
  return {
    open: (path, options) => openRanges(layout, patternOf(path), options),
    *patternPaths(pattern, storage) {
      return (yield* shardPaths(patternOf(pattern), storage, layout)).paths;
    },
  };
}

function* openRanges<S extends RangeFile>(
  layout: RangeLayout<S>,
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const suffix = nameSuffix(options.ext); // may throw, so before anything is open
  const found = yield* shardPaths(path, storage, layout);
  const { sources, shards, lost } = yield* openShards(
    storage,
    found.paths,
    (source) => layout.openFile(source, { ...options, storage }),
  );
  const { format } = options;
  const isInterleaved = format !== undefined && format === layout.interleaved;
  const table = rangeTable(shards, isInterleaved, lost);
  const samples = layout.samplesOf(sources, table, storage);
  if (table instanceof InterleavedTable && !table.isEven) {
    samples.close();
    throw new FormatError(
      "bad-structure",
      `Cannot take the samples of ${path} by turns: its files have ${
        [...new Set(table.lengths)].slice(0, 9).join(", ")
      } samples, and should have as many, or the last ones one fewer. Open it as ${layout.name}`,
      { path },
    );
  }
  return containerOf(layout, samples, found, suffix, options.onWarning);
}

/** Numbers the samples of files. */
export function rangeTable<S extends RangeFile>(
  files: readonly S[],
  isInterleaved: boolean,
  lost: ShardTable["lost"] = [],
): ShardTable<S> {
  const Table = isInterleaved ? InterleavedTable<S> : ShardTable<S>;
  return new Table(files, ({ length }) => length, lost);
}

function containerOf<S extends RangeFile>(
  { name, suffixes }: RangeLayout<S>,
  samples: RangeSamples<S>,
  { areShards }: ShardPaths,
  suffix: string,
  onWarning: ContainerOptions["onWarning"],
): Container {
  const { shards: table, fields } = samples;
  const { length, shards, paths } = table;
  const { kind = "records" } = shards.find(({ length }) => length > 0) ??
    shards[0] ?? {};
  const inDirectories = areShards && !(table instanceof InterleavedTable);
  const notes = [
    ...lostNotes(table.lost),
    ...shards.flatMap(({ path, damage }) =>
      damage ? [damageNotes(path, damage)] : []
    ),
  ];
  warnOfAll(noteLines(notes), onWarning);
  const { facts: odd, ...noted } = notedInfo(notes);
  return {
    tree: rangeTree(samples, {
      shards: inDirectories ? shardDirectories(paths, suffixes) : undefined,
      suffix,
    }),
    samples,
    info: {
      format: name,
      kind: areShards ? `${kind} in shards` : kind,
      files: length * Math.max(1, fields.length) +
        shards.filter(({ header }) => header !== undefined).length,
      directories: (inDirectories ? shards.length : 0) +
        (fields.length === 0 ? 0 : length),
      bytes: shards.reduce((sum, { size }) => sum + size, 0),
      facts: { ...sums(shards), ...odd },
      ...noted,
      parts: shards.map(({ path, size, length }) => ({
        path,
        bytes: size,
        samples: length,
      })),
    },
  };
}

function sums(files: readonly RangeFile[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (
    const [name, count] of files.flatMap(({ facts }) => Object.entries(facts))
  ) {
    sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
