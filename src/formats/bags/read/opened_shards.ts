import { inParallel } from "../../../io/concurrency/in_parallel.ts";
import type { ReadMemory } from "../../../io/read/read_memory.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BatchPlan } from "./batch_plan.ts";
import type { Datapoint } from "./datapoint.ts";
import type { Datapoints, MAPPED } from "./datapoints.ts";
import type { Generation } from "../dataset/generation.ts";
import type { Mask } from "./selection.ts";
import { type ShardPart, ShardsPlan } from "./shards_plan.ts";
import type { Spec } from "../dataset/spec.ts";

/** Opened shards, as one sequence of datapoints. */
export class OpenedShards implements Datapoints {
  readonly path: string;
  readonly length: number;
  readonly #shards: readonly Datapoints[];
  /** The index of each shard's first datapoint. */
  readonly #starts: readonly number[];

  /**
   * @param path The directory that they lie in.
   * @param shards At least one.
   */
  constructor(path: string, shards: readonly Datapoints[]) {
    let length = 0;
    this.path = path;
    this.#shards = shards;
    this.#starts = shards.map((shard) =>
      (length += shard.length) - shard.length
    );
    this.length = length;
  }

  /** How many there are. */
  get count(): number {
    return this.#shards.length;
  }

  /** That of the first shard. */
  get generation(): Generation {
    return this.#shards[0]!.generation;
  }

  /** That of the first shard. */
  get spec(): Spec {
    return this.#shards[0]!.spec;
  }

  /** Those of the first shard. */
  get keys(): readonly string[] {
    return this.#shards[0]!.keys;
  }

  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  close(): void {
    for (const shard of this.#shards) shard.close();
  }

  getSync(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | typeof MAPPED | undefined,
  ): Datapoint {
    const shard = this.#find(index);
    const inShard = index - this.#starts[shard]!;
    return this.#shards[shard]!.getSync(inShard, mask, memory);
  }

  get(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Datapoint> {
    const shard = this.#find(index);
    const inShard = index - this.#starts[shard]!;
    return this.#shards[shard]!.get(inShard, mask, memory);
  }

  *range(
    start: number,
    count: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Record<string, unknown[]>> {
    const end = start + count;
    if (count === 0) return yield* this.#shards[0]!.range(0, 0, mask, memory);
    const values = new Map<string, unknown[]>();
    for (let i = this.#find(start), at = start; at < end; i++) {
      const shard = this.#shards[i]!;
      const inShard = at - this.#starts[i]!;
      const some = Math.min(shard.length - inShard, end - at);
      const part = yield* shard.range(inShard, some, mask, memory);
      for (const [key, list] of Object.entries(part)) {
        const before = values.get(key);
        if (before === undefined) values.set(key, list);
        else for (const value of list) before.push(value);
      }
      at += some;
    }
    return Object.fromEntries(values);
  }

  *planBatch(
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPlan> {
    const byShard = Map.groupBy(
      indices.keys(),
      (place) => this.#find(indices[place]!),
    );
    if (byShard.size === 0) byShard.set(0, []); // which checks the mask
    const parts: ShardPart[] = [];
    const shards = this.#shards;
    const starts = this.#starts;
    yield* inParallel(
      Array.from(byShard, function* ([shard, places], i): Steps<void> {
        const own = places.map((place) => indices[place]! - starts[shard]!);
        parts[i] = { plan: yield* shards[shard]!.planBatch(own, mask), places };
      }),
    );
    return new ShardsPlan(parts);
  }

  available(index: number): Steps<Record<string, true | number>> {
    const shard = this.#find(index);
    return this.#shards[shard]!.available(index - this.#starts[shard]!);
  }

  /** The shard of a datapoint: the last one that starts at or before it, since empty ones come before. */
  #find(index: number): number {
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = low + high + 1 >>> 1;
      if (starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
