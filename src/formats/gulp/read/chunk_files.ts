import * as path from "node:path";
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { byCodePoint } from "../../../base/names.ts";
import { DATA_NAME, isChunkName, META_NAME } from "../kinds.ts";

export interface ChunkPaths {
  /** Number of the chunk, from its name. */
  readonly number: number;
  readonly dataPath: string;
  readonly metaPath: string;
}

export function newChunkPaths(directory: string, number: number): ChunkPaths {
  const dataPath = pathIn(directory, `data_${number}.gulp`);
  const metaPath = pathIn(directory, `meta_${number}.gmeta`);
  return { number, dataPath, metaPath };
}

/** Chunks of a directory, in the order of the original libraries, and faults of other files. */
export interface ChunkListing {
  readonly chunks: readonly ChunkPaths[];
  /** Files without their partner, and duplicate chunks. */
  readonly problems: readonly FormatError[];
  readonly labelPath: string | undefined;
}

/** Name of the file that numbers the labels. */
export const LABEL_FILE = "label2idx.json";

/**
 * Lists the chunks of a directory, in the order of their data files' names as strings, `data_10` before `data_2`, which
 * determines the order of videos. Throws RecordfsError if there is no such directory.
 */
export function* listChunks(
  directory: string,
  storage: Storage = LOCAL_DISK,
): Steps<ChunkListing> {
  const names = yield* storage.list(directory);
  if (names === undefined) {
    throw new RecordfsError(
      "not-a-directory",
      `Cannot open ${directory}: it is a file, not a directory of chunks`,
      { path: directory },
    );
  }
  return pairChunks(directory, names);
}

/** Pairs data and meta files by their numbers. */
export function pairChunks(
  directory: string,
  names: readonly string[],
): ChunkListing {
  const problems: FormatError[] = [];
  const sorted = names.toSorted(byCodePoint);
  const data = numberFiles(directory, sorted, DATA_NAME, problems);
  const meta = numberFiles(directory, sorted, META_NAME, problems);
  const chunks: ChunkPaths[] = [];
  for (const [number, dataPath] of data) {
    const metaPath = meta.get(number);
    if (metaPath !== undefined) chunks.push({ number, dataPath, metaPath });
    else {
      const what = `has no meta file: meta_${number}.gmeta is missing`;
      problems.push(problem("missing-meta", dataPath, what));
    }
  }
  for (const [number, metaPath] of meta) {
    if (data.has(number)) continue;
    const what = `has no data file: data_${number}.gulp is missing`;
    problems.push(problem("missing-data", metaPath, what));
  }
  const labelPath = names.includes(LABEL_FILE)
    ? pathIn(directory, LABEL_FILE)
    : undefined;
  return { chunks, problems, labelPath };
}

/** Finds the chunk of a `.gulp` or `.gmeta` by its other file in the directory; throws FormatError if missing. */
export function* findPartner(
  file: string,
  storage: Storage = LOCAL_DISK,
): Steps<ChunkListing> {
  const directory = path.dirname(file);
  const name = path.basename(file);
  if (!isChunkName(name)) {
    throw problem(
      "missing-meta",
      file,
      "is not named like a file of a chunk, data_0.gulp or meta_0.gmeta, " +
        "so its other file cannot be found",
    );
  }
  const number = chunkNumber(name);
  const siblings = (yield* storage.list(directory)) ?? [];
  const partners = siblings.filter((other) =>
    isChunkName(other) && Object.is(chunkNumber(other), number) &&
    other.endsWith(".gulp") !== name.endsWith(".gulp")
  );
  return pairChunks(directory, [name, ...partners]);
}

function numberFiles(
  directory: string,
  names: readonly string[],
  pattern: RegExp,
  problems: FormatError[],
): Map<number, string> {
  const files = new Map<number, string>();
  for (const name of names) {
    if (!pattern.test(name)) continue;
    const file = pathIn(directory, name);
    const number = chunkNumber(name);
    const before = files.get(number);
    if (!Number.isSafeInteger(number)) {
      const what = "has no chunk number in its name, as in data_0.gulp";
      problems.push(problem("bad-meta", file, what));
    } else if (before !== undefined) {
      const what = `is a second chunk ${number}, next to ${before}`;
      problems.push(problem("duplicate-chunk", file, what));
    } else files.set(number, file);
  }
  return files;
}

function problem(
  code: FormatError["code"],
  path: string,
  what: string,
): FormatError {
  return new FormatError(code, `Cannot open ${path}: it ${what}`, { path });
}

/** Returns the number after those of all chunks and of files without their partner. */
export function nextNumber({ chunks, problems }: ChunkListing): number {
  const numbers = [
    ...chunks.map(({ number }) => number),
    ...problems.map(({ path: file = "" }) => chunkNumber(path.basename(file))),
  ].filter(Number.isSafeInteger);
  return numbers.reduce((next, number) => Math.max(next, number + 1), 0);
}

/** Returns the first run of digits in a name, or NaN. */
export function chunkNumber(name: string): number {
  return Number(/\d+/.exec(name)?.[0]);
}
