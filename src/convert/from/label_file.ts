import * as fs from "node:fs";
import * as path from "node:path";
import { shardName } from "../../formats/bags/dataset/shard_names.ts";
import { LABEL_FILE } from "../../formats/gulp/read/chunk_files.ts";
import { writeError } from "../../io/write/write_error.ts";

/**
 * Where a dataset of Bags keeps the `label2idx.json` of the videos that it was made of. Python's
 * `ShardedDatasetReader` takes everything beside the shards for one, so that it lies in the first of
 * them; what else is in the directory of a dataset, no reader looks at.
 */
export function labelPlace(isSharded: boolean): string {
  return isSharded ? `${shardName(0)}/${LABEL_FILE}` : LABEL_FILE;
}

/**
 * Puts `label2idx.json` where a new container is written, on the disk.
 *
 * @throws {WriteError} If the system refuses.
 */
export function writeLabels(
  directory: string,
  place: string,
  labels: Uint8Array,
): void {
  const location = path.join(directory, place);
  try {
    const file = fs.openSync(location, "wx");
    try {
      fs.writeFileSync(file, labels);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    throw writeError(location, error);
  }
}
