import * as fs from "node:fs";
import { join } from "node:path";
import { RecordfsError } from "../../../errors.ts";
import {
  SHARD_NAME,
  SPEC_FILE,
} from "../../../formats/bags/dataset/dataset_names.ts";
import type { Datapoint } from "../../../formats/bags/read/selection.ts";
import type {
  Generation,
  SampleData,
  Spec,
} from "../../../formats/bags/mod.ts";
import {
  countShards,
  shardName,
} from "../../../formats/bags/dataset/dataset_location.ts";
import { parseType } from "../../../formats/bags/dataset/spec.ts";
import { openError } from "../../../io/storage/file_source.ts";
import {
  type DatapointInput,
  type GivenDatapoint,
  tooFew,
} from "./datapoint_input.ts";
import { SampleFiles } from "../../input/sample_files.ts";

/** A directory of numbered entries: the datapoints of a dataset or shard, or the values of a list. */
interface Numbered {
  readonly count: number;
  /** The path of one. */
  at(number: number): string;
}

/**
 * Where the specification of such a directory is, as `recordfs extract` writes it.
 *
 * @param directory Of datapoints, or of shards.
 */
export function specFileIn(directory: string): string | undefined {
  return [directory, join(directory, shardName(0))]
    .map((path) => join(path, SPEC_FILE))
    .find(isFile);
}

/**
 * Datapoints that are directories of files, `000042/KEY`, or `000042/KEY/000000` where the type is a list;
 * in shards those below `000000` and so on. The files are the records.
 *
 * @throws {RecordfsError} If a number is missing, or something else is there.
 */
export function foldersInput(
  directory: string,
  spec: Spec,
  generation: Generation,
): DatapointInput {
  const isSharded = holdsShards(directory, spec);
  const shards = (isSharded ? shardsOf(directory) : [directory])
    .map((path) => numbered(path, [SPEC_FILE]));
  const lists = new Map(
    Object.entries(spec).map(([key, type]) =>
      [key, parseType(type, generation !== 3).isList] as const
    ),
  );
  return {
    name: directory,
    unit: "datapoints",
    total: shards.reduce((sum, { count }) => sum + count, 0),
    shards: isSharded ? shards.length : undefined,
    async *datapoints(skip, shard): AsyncGenerator<GivenDatapoint> {
      using files = new SampleFiles();
      let first = 0;
      let left = skip;
      for (const [i, { count, at }] of shards.entries()) {
        if (shard === undefined || shard === i) {
          for (let row = left; row < count; row++) {
            const where = at(row);
            const records = readFolder(where, lists, files);
            yield { records, where, done: first + row + 1 };
          }
          left = Math.max(left - count, 0);
        }
        first += count;
      }
      if (left > 0) throw tooFew(directory, skip - left, skip);
    },
  };
}

/**
 * The records of a datapoint; which files are missing or too many, the writer says.
 *
 * @param lists By key, whether it is a list.
 */
function readFolder(
  path: string,
  lists: ReadonlyMap<string, boolean>,
  files: SampleFiles,
): Datapoint {
  const records: [string, unknown][] = [];
  for (const { name, isDirectory } of entriesOf(path)) {
    const isList = lists.get(name);
    if (isList === undefined && name.startsWith(".")) continue; // of the desktop
    const place = join(path, name);
    if (isList === false && isDirectory) {
      throw new RecordfsError(
        "not-a-file",
        `${place} is a directory, as for lists: their types end in [], in generations 1 and 2`,
        { path: place },
      );
    }
    const value = isList === undefined
      ? undefined
      : isList
      ? listOf(numbered(place, []), files)
      : files.pieces(place);
    records.push([name, value]);
  }
  return Object.fromEntries(records); // a file may be called `__proto__`
}

/** One file of the list is open at a time. */
function* listOf(
  { count, at }: Numbered,
  files: SampleFiles,
): Generator<SampleData> {
  for (let i = 0; i < count; i++) yield files.pieces(at(i));
}

/**
 * Counts entries that are called 000000, 000001, …
 *
 * @param besides What else may be there, as may names that start with a dot.
 */
function numbered(path: string, besides: readonly string[]): Numbered {
  let count = 0;
  let last = -1;
  let width = Infinity;
  for (const { name } of entriesOf(path)) {
    if (besides.includes(name) || name.startsWith(".")) continue;
    if (!SHARD_NAME.test(name)) {
      const stray = join(path, name);
      throw new RecordfsError(
        "stray-file",
        `${stray} is no datapoint and no value of a list: those are numbered 000000, 000001, ...`,
        { path: stray },
      );
    }
    count++;
    last = Math.max(last, Number(name));
    width = Math.min(width, name.length);
  }
  if (last + 1 === count) {
    const nameOf = (number: number) => String(number).padStart(width, "0");
    return { count, at: (number) => join(path, nameOf(number)) };
  }
  throw new RecordfsError(
    "missing-number",
    `${path} has ${count} numbered entries, and the last is ${last}: they must be numbered ` +
      "000000, 000001, ... without a gap",
    { path, expected: last + 1, actual: count },
  );
}

/** Looks whether the first of the numbered directories is a shard, and no datapoint. */
function holdsShards(directory: string, spec: Spec): boolean {
  if (isFile(join(directory, SPEC_FILE))) return false;
  const first = join(directory, shardName(0));
  return statOf(first)?.isDirectory() === true &&
    [...entriesOf(first)].some(({ name }) =>
      !Object.hasOwn(spec, name) &&
      (name === SPEC_FILE || SHARD_NAME.test(name))
    );
}

function shardsOf(directory: string): string[] {
  const names = Array.from(entriesOf(directory), ({ name }) => name);
  return Array.from(
    { length: countShards(directory, names) },
    (_, shard) => join(directory, shardName(shard)),
  );
}

function* entriesOf(directory: string): Generator<Deno.DirEntry> {
  try {
    yield* Deno.readDirSync(directory);
  } catch (error) {
    throw openError(directory, error);
  }
}

function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

function statOf(path: string): fs.Stats | undefined {
  return fs.statSync(path, { throwIfNoEntry: false });
}
