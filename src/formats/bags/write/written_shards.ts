import * as path from "node:path";
import { WriteError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { checkEntries, checkLengths } from "../check/check.ts";
import { listDirectory, openShard, type Shard } from "../dataset/open_shard.ts";
import type { DatasetForm } from "./dataset_target.ts";
import { hasSameSpec } from "./resume_dataset.ts";
import { SHARD_NAME, SPEC_FILE } from "../dataset/dataset_names.ts";
import { shardName } from "../dataset/shard_names.ts";

/** Which shards a writer writes: `start`, `start + step`, … */
export interface ShardNumbers {
  readonly start: number;
  readonly step: number;
}

/** Shards that a writer finds done. */
export interface WrittenShards {
  /** How many there are. */
  readonly count: number;
  readonly datapoints: number;
  /** Bytes of their bags and indexes. */
  readonly bytes: number;
  /** Number of the shard to go on with. */
  readonly next: number;
  /** Whether that one is there. */
  readonly isBegun: boolean;
}

/**
 * Finds the shards that are there of those that a writer is to write. In generation 3 all but the
 * last must be complete, and the last is gone on with; in the others there may be none.
 *
 * @throws {WriteError} If there are others.
 */
export function* findWrittenShards(
  directory: string,
  { start, step }: ShardNumbers,
  form: DatasetForm,
): Steps<WrittenShards> {
  const there = yield* listDirectory(LOCAL_DISK, directory);
  if (there.has(SPEC_FILE)) {
    throw new WriteError(
      "exists",
      `Cannot write shards to ${directory}: it has a ${SPEC_FILE}, so it is a dataset without ` +
        `shards; choose another directory, or use DatasetWriter`,
      { path: directory },
    );
  }
  let last: number | undefined;
  for (const name of there) {
    if (!SHARD_NAME.test(name)) continue;
    const number = Number(name);
    if (number < start || (number - start) % step !== 0) continue; // another writer's
    last = Math.max(last ?? number, number);
  }
  if (last === undefined) {
    return { count: 0, datapoints: 0, bytes: 0, next: start, isBegun: false };
  }
  if (form.generation !== 3) throw shardExists(directory, shardName(last));
  let datapoints = 0;
  let bytes = 0;
  for (let number = start; number < last; number += step) {
    const name = shardName(number);
    if (!there.has(name)) throw missingShard(directory, name, shardName(last));
    const shard = yield* measureShard(path.join(directory, name), form);
    datapoints += shard.datapoints;
    bytes += shard.bytes;
  }
  const count = (last - start) / step;
  return { count, datapoints, bytes, next: last, isBegun: true };
}

/** Length and size of a complete shard of generation 3. */
function* measureShard(
  directory: string,
  { spec }: DatasetForm,
): Steps<{ datapoints: number; bytes: number }> {
  if (!(yield* hasSameSpec(directory, spec))) {
    throw incomplete(directory, `it has no ${SPEC_FILE}`);
  }
  let shard: Shard | undefined;
  try {
    shard = yield* openShard(directory, { generation: 3 });
    for (const [k, { key }] of spec.keys.entries()) {
      if (shard.bags[k] === undefined) throw new Error(`'${key}' has no bag`);
      checkEntries(shard.bags[k]);
    }
    checkLengths(shard);
    const bytes = shard.bags.reduce((sum, bag) => sum + bag.bytes, 0);
    return { datapoints: shard.length, bytes };
  } catch (cause) {
    throw incomplete(directory, (cause as Error).message, cause);
  } finally {
    shard?.close();
  }
}

function shardExists(directory: string, name: string): WriteError {
  return new WriteError(
    "exists",
    `Cannot write shards to ${directory}: shard ${name} is there; remove it, or choose another ` +
      "directory, or another option `shardStart`",
    { path: directory },
  );
}

function missingShard(
  directory: string,
  name: string,
  last: string,
): WriteError {
  return new WriteError(
    "missing-shard",
    `Cannot append to ${directory}: shard ${name} is missing, and ${last} is there; restore it, or ` +
      `choose another directory`,
    { path: directory, expected: name },
  );
}

function incomplete(
  directory: string,
  what: string,
  cause?: unknown,
): WriteError {
  return new WriteError(
    "incomplete-shard",
    `Cannot append behind the shard ${directory}, which is not complete: ${what}. Complete it with ` +
      `DatasetWriter, or remove the shards behind it`,
    { path: directory, cause },
  );
}
