import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { isDatasetFile, SHARD_NAME } from "./dataset_names.ts";
import { FormatError } from "../../../base/errors.ts";

/** What a path holds: a single bag, or a dataset. `shards` are the directories of its shards, or its own directory. */
export type DatasetLocation =
  | { readonly bag: string }
  | { readonly isSharded: boolean; readonly shards: readonly string[] };

export function shardPath(directory: string, shard: number): string {
  return `${directory}/${shardName(shard)}`;
}

/**
 * Determines whether a path is a bag, a dataset, or a sharded dataset.
 *
 * @param path Directory of a dataset, directory of its shards, a `.bag`, or its `.idx`.
 * @param onWarning Called if the last shard is empty, and therefore skipped.
 * @throws {FormatError} If shards are missing, or something that is not a shard is among them.
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
    shards.pop(); // its writer has not begun it yet, or was killed before
    onWarning?.(
      `${last}: the last shard is empty and skipped: its writer has ` +
        "not begun it yet, or was killed",
    );
  }
  return { isSharded: true, shards };
}

export function shardName(number: number): string {
  return String(number).padStart(6, "0");
}

/** Counts the shards in a directory, ignoring hidden files. Throws if one is missing, or there is something else. */
function countShards(path: string, names: Iterable<string>): number {
  const shards = new Set<string>();
  for (const name of names) {
    if (name.startsWith(".")) continue; // desktop files, or a writer's temporary files
    if (!SHARD_NAME.test(name)) {
      throw new FormatError(
        "stray-file",
        `Cannot open ${path}: not a shard: ${name}. A sharded dataset holds ` +
          "only directories 000000, 000001, ...",
        { path: `${path}/${name}` },
      );
    }
    shards.add(name);
  }
  for (let i = 0; i < shards.size; i++) {
    if (shards.has(shardName(i))) continue;
    throw new FormatError(
      "missing-shard",
      `Cannot open ${path}: shards must be numbered 000000, 000001, ...: ` +
        `of ${shards.size} shards, ${shardName(i)} is missing`,
      { path, expected: shardName(i) },
    );
  }
  if (shards.size > 0) return shards.size;
  throw new FormatError(
    "missing-shard",
    `Cannot open ${path}: it is not a dataset: it has neither ` +
      "spec.json nor shards",
    { path },
  );
}

/** @throws {RangeError} If the number or size of shards is not an integer of at least `least`. */
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
