import { FormatError } from "../../../errors.ts";
import { inParallel } from "../../../io/concurrency/in_parallel.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { countBegunShards } from "./dataset_location.ts";
import type { DatasetOptions } from "../read/dataset_options.ts";
import { listDirectory } from "./open_dataset.ts";
import { OpenedDataset } from "../read/opened_dataset.ts";
import { shardName } from "./shard_names.ts";
import { SPEC_FILE } from "./dataset_names.ts";

/** How to open a sharded dataset. */
export interface ShardedDatasetOptions extends DatasetOptions {
  /** The first shard to read; 0 by default. */
  readonly shardStart?: number | undefined;
  /** Every how many shards one is read; 1 by default, which is each. */
  readonly shardStep?: number | undefined;
}

/**
 * Opens the shards of a dataset that are asked for; a dataset that is not sharded is one shard.
 *
 * @throws {FormatError} If one is missing or damaged, or has other keys.
 * @throws {RangeError} If `shardStart` or `shardStep` is no whole number, or leaves no shard.
 */
export function* openShards(
  directory: string,
  options: ShardedDatasetOptions,
): Steps<OpenedDataset[]> {
  const paths = yield* pathsOf(directory, options);
  const shards: OpenedDataset[] = [];
  function* open(path: string, i: number): Steps<void> {
    shards[i] = yield* OpenedDataset.open(path, options);
  }
  try {
    yield* inParallel(paths.map(open));
    for (const shard of shards) requireSameKeys(shards[0]!, shard);
    return shards;
  } catch (error) {
    shards.forEach((shard) => shard.close());
    throw error;
  }
}

/** The directories of the shards that are asked for. */
function* pathsOf(
  directory: string,
  { shardStart = 0, shardStep = 1, onWarning }: ShardedDatasetOptions,
): Steps<string[]> {
  requireWhole("shardStart", shardStart, 0);
  requireWhole("shardStep", shardStep, 1);
  const names = yield* listDirectory(directory);
  const isOne = names.has(SPEC_FILE);
  const count = isOne
    ? 1
    : yield* countBegunShards(directory, names, onWarning);
  if (shardStart >= count) {
    throw new RangeError(
      `${directory} has ${count} shards: none is left from shardStart ${shardStart} on`,
    );
  }
  if (isOne) return [directory];
  const paths: string[] = [];
  for (let i = shardStart; i < count; i += shardStep) {
    paths.push(`${directory}/${shardName(i)}`);
  }
  return paths;
}

function requireWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be a whole number from ${least} on, not ${value}`,
  );
}

function requireSameKeys(first: OpenedDataset, shard: OpenedDataset): void {
  const isSame = first.keys.length === shard.keys.length &&
    shard.keys.every((key) => Object.hasOwn(first.spec, key));
  if (isSame) return;
  const path = `${shard.path}/${SPEC_FILE}`;
  throw new FormatError(
    "bad-spec",
    `${path}: its keys are not those of ${first.path}: ${
      shard.keys.join(", ")
    } ` +
      `instead of ${first.keys.join(", ")}; read the shards one by one`,
    { path, expected: first.keys, actual: shard.keys },
  );
}
