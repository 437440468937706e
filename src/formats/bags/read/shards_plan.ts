import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import type { BatchPlan } from "./batch_plan.ts";
import type { Datapoint } from "./datapoint.ts";

/** The bytes of records that lie together. */
type Bytes = Uint8Array<ArrayBuffer>;

/** What there is to read of a batch in one shard. */
export interface ShardPart {
  readonly plan: BatchPlan;
  /** Where in the batch its datapoints stand. */
  readonly places: readonly number[];
}

/** What there is to read of a batch of datapoints of several shards: all of it in one go. */
export class ShardsPlan implements BatchPlan {
  readonly sources: readonly ByteSource[];
  readonly slices: readonly Slice[];
  readonly #parts: readonly ShardPart[];

  constructor(parts: readonly ShardPart[]) {
    const sources: ByteSource[] = [];
    const slices: Slice[] = [];
    for (const { plan } of parts) {
      const first = sources.length;
      sources.push(...plan.sources);
      for (const { source, offset, length } of plan.slices) {
        slices.push({ source: first + source, offset, length });
      }
    }
    this.sources = sources;
    this.slices = slices;
    this.#parts = parts;
  }

  decodeSync(bytes: readonly Bytes[]): Datapoint[] {
    return this.#join(
      this.#split(bytes).map((own, i) => this.#parts[i]!.plan.decodeSync(own)),
    );
  }

  async decode(bytes: readonly Bytes[]): Promise<Datapoint[]> {
    const made: Datapoint[][] = [];
    for (const [i, own] of this.#split(bytes).entries()) {
      made.push(await this.#parts[i]!.plan.decode(own));
    }
    return this.#join(made);
  }

  /** The bytes of each part. */
  #split(bytes: readonly Bytes[]): Bytes[][] {
    let done = 0;
    return this.#parts.map(({ plan }) =>
      bytes.slice(done, done += plan.slices.length)
    );
  }

  #join(made: readonly Datapoint[][]): Datapoint[] {
    const batch: Datapoint[] = [];
    for (const [i, { places }] of this.#parts.entries()) {
      places.forEach((place, k) => batch[place] = made[i]![k]!);
    }
    return batch;
  }
}
