import type { FormatError } from "../../base/errors.ts";
import { nameOfFiles } from "../sample_indices.ts";
import { lastUpTo, sharedFloat64 } from "../shared_numbers.ts";

/**
 * Shards whose samples are numbered from 0 across all of them.
 *
 * @typeParam S Shard: the path of its file, and what the format adds.
 */
export class ShardTable<
  S extends { readonly path: string } = { readonly path: string },
> {
  /** Sound shards, in order. */
  readonly shards: readonly S[];
  /** Per shard, plus one: index of its first sample. In memory that threads share. */
  readonly firsts: Float64Array;
  /** Number of samples. */
  readonly length: number;
  /** Shards so damaged that their samples have no numbers. */
  readonly lost: readonly {
    /** Path of the shard. */
    readonly path: string;
    /** Index among all shards, from 0. */
    readonly at: number;
    /** Error code of the damage. */
    readonly code: FormatError["code"];
    /** Description of the damage. */
    readonly message: string;
  }[];

  /**
   * Numbers the samples of shards.
   *
   * @param countOf Returns the number of samples of a shard.
   * @param lost Skipped shards.
   */
  constructor(
    shards: readonly S[],
    countOf: (shard: S) => number,
    lost: ShardTable["lost"] = [],
  ) {
    this.shards = shards;
    this.lost = lost;
    this.firsts = sharedFloat64(shards.length + 1);
    for (const [i, shard] of shards.entries()) {
      this.firsts[i + 1] = this.firsts[i]! + countOf(shard);
    }
    this.length = this.firsts.at(-1)!;
  }

  /** Number of samples of each shard, in order; 0 for skipped shards. */
  get lengths(): readonly number[] {
    const lengths = this.shards.map((_, i) =>
      this.firsts[i + 1]! - this.firsts[i]!
    );
    return withLost(lengths, this.lost);
  }

  /** Paths of the shards, in order; without skipped shards. */
  get paths(): readonly string[] {
    return this.shards.map(({ path }) => path);
  }

  /** Name of all shards in messages. */
  get name(): string {
    return nameOfFiles(this.paths);
  }

  /** Returns the number of the shard that contains a sample; never an empty one. */
  shardOf(sample: number): number {
    return lastUpTo(this.firsts, sample, this.shards.length);
  }

  /** Returns the index of a sample in its shard. */
  numberOf(sample: number): number {
    return sample - this.firsts[this.shardOf(sample)]!;
  }

  /** Returns the shard that contains a sample. */
  of(sample: number): S {
    return this.shards[this.shardOf(sample)]!;
  }
}

/** Shards of which sample i is in shard i modulo their number: all have as many samples, or the last ones one fewer. */
export class InterleavedTable<
  S extends { readonly path: string },
> extends ShardTable<S> {
  override shardOf(sample: number): number {
    return sample % this.shards.length;
  }

  override numberOf(sample: number): number {
    return Math.floor(sample / this.shards.length);
  }

  /** Whether the shards have such numbers of samples. */
  get isEven(): boolean {
    const most = Math.ceil(this.length / this.shards.length);
    const longer = this.length - (most - 1) * this.shards.length;
    return this.lengths.every((length, i) =>
      length === (i < longer ? most : most - 1)
    );
  }
}

/** Inserts a 0 for each skipped shard into the lengths of the sound ones. */
export function withLost(
  lengths: readonly number[],
  lost: ShardTable["lost"],
): readonly number[] {
  const all = [...lengths];
  for (const { at } of lost) all.splice(at, 0, 0);
  return all;
}
