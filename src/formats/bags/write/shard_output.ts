import { type Steps, unaborted } from "../../../io/concurrency/steps.ts";
import type { Datapoint } from "../read/datapoint.ts";
import {
  type DatasetForm,
  type DatasetTarget,
  openDatasetTarget,
} from "./dataset_target.ts";
import { shardName } from "../dataset/shard_names.ts";
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
  requireCount("shardSize", shardSize, 1);
  requireCount("shardLength", shardLength, 1);
  requireCount("shardStart", shardStart, 0);
  requireCount("shardStep", shardStep, 1);
  const hasLimit = shardSize !== undefined || shardLength !== undefined;
  if (!hasLimit && (shardStart > 0 || shardStep > 1)) {
    throw new RangeError(
      "With shardStart or shardStep, shards need a shardSize or shardLength to end at",
    );
  }
  return { start: shardStart, step: shardStep };
}

function requireCount(name: string, value: number | undefined, least: number) {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be a whole number from ${least} on, not ${value}`,
  );
}

/** Writes datapoints to one shard after the other. */
export class ShardOutput {
  readonly #place: (name: string) => string;
  readonly #form: DatasetForm;
  readonly #limits: ShardLimits;
  #current: DatasetTarget | undefined;
  #number: number;
  #shards: number;
  #length: number;
  #bytes: number;

  /**
   * @param place The path of a shard.
   * @param done What is written already.
   */
  constructor(
    place: (name: string) => string,
    form: DatasetForm,
    limits: ShardLimits,
    done: WrittenShards,
  ) {
    this.#place = place;
    this.#form = form;
    this.#limits = limits;
    this.#number = done.next;
    this.#shards = done.count;
    this.#length = done.datapoints;
    this.#bytes = done.bytes;
  }

  /** Number of shards, with the one that is being written if it has any datapoint. */
  get shards(): number {
    return this.#shards + (this.#currentLength > 0 ? 1 : 0);
  }

  /** Number of datapoints in them. */
  get length(): number {
    return this.#length + this.#currentLength;
  }

  /** Bytes of their bags and indexes. */
  get size(): number {
    return this.#bytes + (this.shards > this.#shards ? this.#currentSize : 0);
  }

  /** Opens the shard that datapoints are to be appended to, unless it is open. */
  *openShard(): Steps<DatasetTarget> {
    return this.#current ??= yield* openDatasetTarget(
      this.#place(shardName(this.#number)),
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
    if (this.#isWorthKeeping) yield* this.#current!.finish();
  }

  /** Has the last shard appear. */
  *publish(): Steps<void> {
    if (this.#isWorthKeeping) yield* this.#current!.publish();
  }

  /** Lets go of the shard that is being written. */
  letGo(): void {
    this.#current?.letGo();
  }

  get #currentLength(): number {
    return this.#current?.output.length ?? 0;
  }

  get #currentSize(): number {
    return this.#current?.output.size ?? 0;
  }

  /** A shard that was begun with a datapoint that could not be written does not appear. */
  get #isWorthKeeping(): boolean {
    return this.#currentLength > 0;
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
    this.#length = this.length;
    this.#bytes += this.#currentSize;
    this.#shards++;
    this.#number += this.#limits.shardStep ?? 1;
    this.#current = undefined;
    target.letGo();
  }
}
