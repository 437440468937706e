import { readDirectory } from "../../io/read_directory.ts";
import { perform, type Steps } from "../../io/steps.ts";
import { countShards, shardName } from "./shard_names.ts";
import { isDatasetFile } from "./dataset_names.ts";

/** What is at a location: one bag, a dataset, or a directory of shards. */
export type DatasetLocation =
  | { readonly kind: "bag"; readonly path: string }
  | { readonly kind: "dataset"; readonly path: string }
  | { readonly kind: "shards"; readonly path: string; readonly shards: number };

/** The directory of a shard. */
export function shardPath(directory: string, shard: number): string {
  return `${directory}/${shardName(shard)}`;
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
