import { basename } from "node:path";
import { FormatError } from "../../errors.ts";
import { byCodePoint } from "../../names.ts";
import { readDirectory } from "../../io/read_directory.ts";
import { perform, type Steps } from "../../io/steps.ts";
import { REFS_KEY, SPEC_FILE } from "./spec.ts";

/** What is at a location: one bag, a dataset, or a directory of shards. */
export type DatasetLocation =
  | { readonly kind: "bag"; readonly path: string }
  | { readonly kind: "dataset"; readonly path: string }
  | { readonly kind: "shards"; readonly path: string; readonly shards: number };

/** Digits of a shard's name, at least. */
const SHARD_DIGITS = 6;

/** The directory of a shard. */
export function shardPath(directory: string, shard: number): string {
  return `${directory}/${shardName(shard)}`;
}

function shardName(shard: number): string {
  return String(shard).padStart(SHARD_DIGITS, "0");
}

/** Whether a name could be that of a shard. */
export function isShardName(name: string): boolean {
  return /^\d{6,}$/.test(name);
}

/** Whether a directory with a file of that name is a dataset, perhaps a damaged one. */
export function isDatasetFile(name: string): boolean {
  return name === SPEC_FILE || name === `${REFS_KEY}.bag` ||
    /.\.(bag|idx)$/.test(name);
}

/**
 * Looks what is at a location.
 *
 * @param path A dataset's directory, that of its shards, a `.bag`, or the `.idx` of one.
 * @throws {FormatError} If shards are missing, or something that is no shard is among them.
 */
export function* locateDataset(path: string): Steps<DatasetLocation> {
  const names = yield* perform(readDirectory(path));
  if (names === undefined) {
    return { kind: "bag", path: path.replace(/\.idx$/, ".bag") };
  }
  if (names.some(isDatasetFile)) return { kind: "dataset", path };
  return { kind: "shards", path, shards: countShards(path, names) };
}

/** Names that start with a dot are those of the system, or of a writer that is at work. */
function countShards(path: string, all: readonly string[]): number {
  const names = all.filter((name) => !name.startsWith("."));
  const stray = names.filter((name) => !isShardName(name)).sort(byCodePoint)[0];
  if (stray !== undefined) {
    throw new FormatError(
      "stray-file",
      `${path}: not a shard: ${stray}; a directory of shards holds nothing but 000000, 000001, ...`,
      { path: `${path}/${stray}` },
    );
  }
  if (names.length === 0) {
    throw new FormatError(
      "missing-spec",
      `${path}: ${SPEC_FILE} is missing, and there are no shards: it is no dataset`,
      { path },
    );
  }
  const present = new Set(names);
  for (let shard = 0; shard < names.length; shard++) {
    const name = shardName(shard);
    if (present.has(name)) continue;
    throw new FormatError(
      "missing-shard",
      `${path}: shards must be numbered 000000, 000001, ...: there are ${names.length} and ` +
        `${name} is missing (the last is ${
          basename(names.sort(byCodePoint).at(-1)!)
        })`,
      { path, expected: name },
    );
  }
  return names.length;
}
