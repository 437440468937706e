import * as path from "node:path";
import { type Steps, unaborted } from "../../../io/concurrency/steps.ts";
import type { MadeDirectories } from "../../../io/write/make_directories.ts";
import type { Datapoint } from "../read/selection.ts";
import {
  type DatasetForm,
  type DatasetTarget,
  hasSameSpec,
  openDatasetTarget,
} from "./dataset_target.ts";
import { requireWhole, shardName } from "../dataset/dataset_location.ts";
import type { ShardLimits } from "./sharded_dataset_writer.ts";
import { WriteError } from "../../../base/errors.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { checkEntries, checkLengths } from "../check/check.ts";
import { listDirectory, openShard, type Shard } from "../dataset/open_shard.ts";
import { SHARD_NAME, SPEC_FILE } from "../dataset/dataset_names.ts";

const SHARD_START: NamedOption = { name: "shardStart" };

/** Validates limits. Throws a `RangeError` if one is invalid, or if shards divided among writers never end. */
export function requireLimits(limits: ShardLimits): void {
  const { shardSize, shardLength, shardStart = 0, shardStep = 1 } = limits;
  requireWhole("shardSize", shardSize, 1);
  requireWhole("shardLength", shardLength, 1);
  requireWhole("shardStart", shardStart, 0);
  requireWhole("shardStep", shardStep, 1);
  const hasLimit = shardSize !== undefined || shardLength !== undefined;
  if (!hasLimit && (shardStart > 0 || shardStep > 1)) {
    throw new RangeError(
      "shardStart and shardStep need a shardSize or shardLength at which shards end",
    );
  }
}

export class ShardOutput {
  readonly #directory: string;
  readonly #form: DatasetForm;
  readonly #limits: ShardLimits;
  #done: WrittenShards;
  readonly #made: MadeDirectories;
  #current: DatasetTarget | undefined;

  /** @param made Directories that are removed if nothing was written to them. */
  constructor(
    directory: string,
    form: DatasetForm,
    limits: ShardLimits,
    done: WrittenShards,
    made: MadeDirectories,
  ) {
    this.#directory = directory;
    this.#form = form;
    this.#limits = limits;
    this.#done = done;
    this.#made = made;
  }

  /** Number of shards, including the current one if it has a datapoint. */
  get shards(): number {
    return this.#done.count + (this.#currentLength > 0 ? 1 : 0);
  }

  get length(): number {
    return this.#done.datapoints + this.#currentLength;
  }

  get size(): number {
    return this.#done.bytes +
      (this.#currentLength > 0 ? this.#currentSize : 0);
  }

  *openShard(): Steps<DatasetTarget> {
    return this.#current ??= yield* openDatasetTarget(
      path.join(this.#directory, shardName(this.#done.next)),
      this.#form,
    );
  }

  /** Completes the current shard if it is full, then appends a datapoint and returns its index. */
  *append(datapoint: Datapoint): Steps<number> {
    if (this.#isFull) yield* this.#endShard();
    const { output } = yield* this.openShard();
    yield* output.append(datapoint);
    return this.length - 1;
  }

  *flush(sync: boolean): Steps<void> {
    if (this.#current !== undefined) yield* this.#current.output.flush(sync);
  }

  *finish(): Steps<void> {
    if (this.#currentLength > 0) yield* this.#current!.finish();
  }

  /** Publishes the last shard, unless its first datapoint could not be written. */
  *publish(): Steps<void> {
    if (this.#currentLength > 0) yield* this.#current!.publish();
  }

  /** Releases the current shard. */
  letGo(): void {
    this.#current?.letGo();
    this.#made.removeEmpty();
  }

  get #currentLength(): number {
    return this.#current?.output.length ?? 0;
  }

  get #currentSize(): number {
    return this.#current?.output.size ?? 0;
  }

  get #isFull(): boolean {
    const { shardSize = Infinity, shardLength = Infinity } = this.#limits;
    return this.#currentLength > 0 &&
      (this.#currentLength >= shardLength || this.#currentSize >= shardSize);
  }

  *#endShard(): Steps<void> {
    const target = this.#current!;
    yield* target.finish();
    yield* unaborted(() => this.#publishShard(target));
  }

  *#publishShard(target: DatasetTarget): Steps<void> {
    yield* target.publish();
    this.#done = {
      count: this.shards,
      datapoints: this.length,
      bytes: this.size,
      next: this.#done.next + (this.#limits.shardStep ?? 1),
      isBegun: false,
    };
    this.#current = undefined;
    target.letGo();
  }
}

interface WrittenShards {
  readonly count: number;
  readonly datapoints: number;
  readonly bytes: number;
  /** Number of the shard to continue with. */
  readonly next: number;
  readonly isBegun: boolean;
}

/**
 * Finds the existing shards among those that a writer is to write. In generation 3 all but the last must be complete,
 * and the last is continued; otherwise there must be none.
 */
export function* findWrittenShards(
  directory: string,
  { shardStart: start = 0, shardStep: step = 1 }: ShardLimits,
  form: DatasetForm,
): Steps<WrittenShards> {
  const there = yield* listDirectory(LOCAL_DISK, directory);
  if (there.has(SPEC_FILE)) {
    throw new WriteError(
      "exists",
      `Cannot write shards to ${directory}: it has a ${SPEC_FILE}, so it ` +
        "is a dataset without shards. Choose another directory, or use DatasetWriter",
      { path: directory },
    );
  }
  let last: number | undefined;
  for (const name of there) {
    if (!SHARD_NAME.test(name)) continue;
    const number = Number(name);
    if (number < start || (number - start) % step !== 0) continue; // written by another writer
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
    `Cannot write shards to ${directory}: shard ${name} exists. Remove it, choose another ` +
      `directory, or change ${optionText(SHARD_START)}`,
    { path: directory, namedOptions: [SHARD_START] },
  );
}

function missingShard(
  directory: string,
  name: string,
  last: string,
): WriteError {
  return new WriteError(
    "missing-shard",
    `Cannot append to ${directory}: shard ${name} is missing, and ` +
      `${last} exists. Restore it, or choose another directory`,
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
    `Cannot append after the shard ${directory}: it is not complete: ` +
      `${what}. Complete it with DatasetWriter, or remove the shards ` +
      "after it",
    { path: directory, cause },
  );
}
