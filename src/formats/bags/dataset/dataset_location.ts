import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { isDatasetFile, SHARD_NAME } from "./dataset_names.ts";
import { FormatError } from "../../../base/errors.ts";

/** A location: one bag, or a dataset with the directories of its shards, or its own. */
export type DatasetLocation =
  | { readonly bag: string }
  | { readonly isSharded: boolean; readonly shards: readonly string[] };

/** The directory of a shard. */
export function shardPath(directory: string, shard: number): string {
  return `${directory}/${shardName(shard)}`;
}

/**
 * Looks what is at a location.
 *
 * @param path A dataset's directory, that of its shards, a `.bag`, or the `.idx` of one.
 * @param onWarning Told of a last shard that is empty.
 * @throws {FormatError} If shards are missing, or something that is no shard is among them.
 */
export function* locateDataset(
  storage: Storage,
  path: string,
  onWarning?: (message: string) => void,
): Steps<DatasetLocation> {
  const names = yield* storage.list(path);
  if (names === undefined) {
    return { bag: path.replace(/\.idx$/, ".bag") };
  }
  if (names.some(isDatasetFile)) return { isSharded: false, shards: [path] };
  const count = countShards(path, names);
  const shards = Array.from({ length: count }, (_, i) => shardPath(path, i));
  const last = shards.at(-1)!;
  const files = count > 1 ? yield* storage.list(last) : undefined;
  if (files?.every((name) => name.startsWith("."))) {
    shards.pop(); // its writer is about to write its first file, or was killed before
    onWarning?.(
      `${last}: the last shard is empty and left out: its writer is about to begin it, or was killed`,
    );
  }
  return { isSharded: true, shards };
}

/** The name of shard `number`. */
export function shardName(number: number): string {
  return String(number).padStart(6, "0");
}

/**
 * Takes the names in the directory of a sharded dataset for shards.
 *
 * @param path The directory, for messages.
 * @param names In any order; those that start with `.` are not looked at.
 * @returns How many shards there are.
 * @throws {FormatError} If one is missing, or something else is there.
 */
function countShards(path: string, names: Iterable<string>): number {
  const shards = new Set<string>();
  for (const name of names) {
    if (name.startsWith(".")) continue; // of the desktop, or a writer's temporary files
    if (!SHARD_NAME.test(name)) {
      throw new FormatError(
        "stray-file",
        `${path}: not a shard: ${name}. A sharded dataset holds only directories 000000, 000001, ...`,
        { path: `${path}/${name}` },
      );
    }
    shards.add(name);
  }
  for (let i = 0; i < shards.size; i++) {
    if (shards.has(shardName(i))) continue;
    throw new FormatError(
      "missing-shard",
      `${path}: shards must be numbered 000000, 000001, ...: of ${shards.size} shards, ` +
        `${shardName(i)} is missing`,
      { path, expected: shardName(i) },
    );
  }
  if (shards.size > 0) return shards.size;
  throw new FormatError(
    "missing-shard",
    `${path} is no dataset: it has neither spec.json nor shards`,
    { path },
  );
}

/** @throws {RangeError} If a number that says which shards, or how large ones, is none of those. */
export function requireWhole(
  name: string,
  value: number | undefined,
  least: number,
): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be a whole number from ${least} on, not ${value}`,
  );
}
