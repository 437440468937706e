import { LABEL_FILE } from "../../../convert/label_file.ts";
import { shardName } from "../dataset/shard_names.ts";

/**
 * Where a dataset of Bags keeps the `label2idx.json` of the videos that it was made of. Python's
 * `ShardedDatasetReader` takes everything beside the shards for one, so that it lies in the first of
 * them; what else is in the directory of a dataset, no reader looks at.
 */
export function labelPlace(isSharded: boolean): string {
  return isSharded ? `${shardName(0)}/${LABEL_FILE}` : LABEL_FILE;
}
