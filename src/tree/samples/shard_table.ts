import type { LostShard } from "./open_shards.ts";
import { nameOfFiles } from "../sample_indices.ts";
import { lastUpTo, sharedFloat64 } from "../shared_numbers.ts";

/** A file of samples. */
export interface Shard {
  /** Where it lies. */
  readonly path: string;
}

/** Shards, whose samples are numbered from 0 through all of them. */
export class ShardTable<S extends Shard = Shard> {
  /** In their order. */
  readonly shards: readonly S[];
  /** Per shard, and once more for all: the number of its first sample. In memory that threads share. */
  readonly firsts: Float64Array;
  /** Number of samples. */
  readonly length: number;
  /** Shards that are damaged, so that none of their samples has a number. */
  readonly lost: readonly LostShard[];

  /**
   * Numbers the samples of shards.
   *
   * @param countOf Counts the samples of a shard.
   * @param lost Shards that are left out.
   */
  constructor(
    shards: readonly S[],
    countOf: (shard: S) => number,
    lost: readonly LostShard[] = [],
  ) {
    this.shards = shards;
    this.lost = lost;
    this.firsts = sharedFloat64(shards.length + 1);
    for (const [i, shard] of shards.entries()) {
      this.firsts[i + 1] = this.firsts[i]! + countOf(shard);
    }
    this.length = this.firsts.at(-1)!;
  }

  /** The number of samples of each shard, in their order; 0 of those that are left out. */
  get lengths(): readonly number[] {
    const lengths = this.shards.map((_, i) =>
      this.firsts[i + 1]! - this.firsts[i]!
    );
    return withLost(lengths, this.lost);
  }

  /** Paths of the shards, in their order. */
  get paths(): readonly string[] {
    return this.shards.map(({ path }) => path);
  }

  /** What messages call all of them. */
  get name(): string {
    return nameOfFiles(this.paths);
  }

  /** Number of the shard that a sample is in; empty ones hold none. */
  shardOf(sample: number): number {
    return lastUpTo(this.firsts, sample, this.shards.length);
  }

  /** Number of a sample in its shard. */
  numberOf(sample: number): number {
    return sample - this.firsts[this.shardOf(sample)]!;
  }

  /** The shard that a sample is in. */
  of(sample: number): S {
    return this.shards[this.shardOf(sample)]!;
  }
}

/** The lengths of all shards in their order: those of the sound ones, and 0 of those that are left out. */
export function withLost(
  lengths: readonly number[],
  lost: readonly LostShard[],
): readonly number[] {
  const all = [...lengths];
  for (const { at } of lost) all.splice(at, 0, 0);
  return all;
}
