import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { type BatchRoom, placesIn } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import type { Datapoint } from "./datapoint.ts";

/** What there is to read of a batch of datapoints. */
export interface BatchPlan {
  /** What is read from. */
  readonly sources: readonly ByteSource[];
  /** What is read. */
  readonly slices: readonly Slice[];

  /**
   * Makes the datapoints without waiting.
   *
   * @param bytes Of each slice.
   * @throws {TypeError} If a decoder needs to be waited for.
   */
  decodeSync(bytes: readonly Uint8Array<ArrayBuffer>[]): Datapoint[];

  /** {@linkcode BatchPlan.decodeSync}, waiting for decoders that need it, for all at once. */
  decode(bytes: readonly Uint8Array<ArrayBuffer>[]): Promise<Datapoint[]>;
}

/**
 * Reads a batch in one go.
 *
 * @param memory What to read into; memory of their own where not given.
 */
export function* readBatch(
  plan: BatchPlan,
  memory?: BatchRoom,
): Steps<Datapoint[]> {
  const { sources, slices } = plan;
  const places = memory && placesIn(memory, slices);
  const bytes = yield* readSlices(sources, slices, undefined, places);
  return yield* perform({
    sync: () => plan.decodeSync(bytes),
    async: () => plan.decode(bytes),
  });
}
