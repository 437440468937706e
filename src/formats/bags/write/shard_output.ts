import * as path from "node:path";
import { type Steps, unaborted } from "../../../io/concurrency/steps.ts";
import type { MadeDirectories } from "../../../io/write/make_directories.ts";
import type { Datapoint } from "../read/selection.ts";
import {
  type DatasetForm,
  type DatasetTarget,
  openDatasetTarget,
} from "./dataset_target.ts";
import { requireWhole, shardName } from "../dataset/shard_names.ts";
import type { ShardNumbers, WrittenShards } from "./written_shards.ts";

/** When a shard is full, and which shards a writer writes. */
export interface ShardLimits {
  /** A shard is full when it has this many bytes, indexes and references included. */
  readonly shardSize?: number | undefined;
  /** A shard is full when it has this many datapoints. */
  readonly shardLength?: number | undefined;
  /** Number of the first shard; 0 by default. */
  readonly shardStart?: number | undefined;
  /** What is added for the next one; 1 by default. */
  readonly shardStep?: number | undefined;
}

/**
 * Checks the limits of shards.
 *
 * @throws {RangeError} If they are none, or several writers would write one shard each and no more.
 */
export function requireLimits(limits: ShardLimits): ShardNumbers {
  const { shardSize, shardLength, shardStart = 0, shardStep = 1 } = limits;
  requireWhole("shardSize", shardSize, 1);
  requireWhole("shardLength", shardLength, 1);
  requireWhole("shardStart", shardStart, 0);
  requireWhole("shardStep", shardStep, 1);
  const hasLimit = shardSize !== undefined || shardLength !== undefined;
  if (!hasLimit && (shardStart > 0 || shardStep > 1)) {
    throw new RangeError(
      "With shardStart or shardStep, shards need a shardSize or shardLength to end at",
    );
  }
  return { start: shardStart, step: shardStep };
}

/** Writes datapoints to one shard after the other. */
export class ShardOutput {
  readonly #directory: string;
  readonly #form: DatasetForm;
  readonly #limits: ShardLimits;
  /** All but the one that is being written. */
  #done: WrittenShards;
  readonly #made: MadeDirectories;
  #current: DatasetTarget | undefined;

  /**
   * @param done What is written already.
   * @param made Directories that go where nothing was written.
   */
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

  /** Number of shards, with the one that is being written if it has any datapoint. */
  get shards(): number {
    return this.#done.count + (this.#currentLength > 0 ? 1 : 0);
  }

  /** Number of datapoints in them. */
  get length(): number {
    return this.#done.datapoints + this.#currentLength;
  }

  /** Bytes of their bags and indexes. */
  get size(): number {
    return this.#done.bytes +
      (this.#currentLength > 0 ? this.#currentSize : 0);
  }

  /** Opens the shard that datapoints are to be appended to, unless it is open. */
  *openShard(): Steps<DatasetTarget> {
    return this.#current ??= yield* openDatasetTarget(
      path.join(this.#directory, shardName(this.#done.next)),
      this.#form,
    );
  }

  /** Appends a datapoint, and answers its index. A shard that is full is completed before. */
  *append(datapoint: Datapoint): Steps<number> {
    if (this.#isFull) yield* this.#endShard();
    const { output } = yield* this.openShard();
    yield* output.append(datapoint);
    return this.length - 1;
  }

  /** Writes what was gathered. */
  *flush(sync: boolean): Steps<void> {
    if (this.#current !== undefined) yield* this.#current.output.flush(sync);
  }

  /** Completes the last shard. */
  *finish(): Steps<void> {
    if (this.#currentLength > 0) yield* this.#current!.finish();
  }

  /** Has the last shard appear, unless its first datapoint could not be written. */
  *publish(): Steps<void> {
    if (this.#currentLength > 0) yield* this.#current!.publish();
  }

  /** Lets go of the shard that is being written. */
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
