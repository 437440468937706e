import type { Steps } from "../../../io/concurrency/steps.ts";
import { type BatchRoom, placesIn } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { Column, Raw } from "./column.ts";
import type { Datapoint } from "./selection.ts";

/** The values of one key that a batch has of one shard. */
export interface BatchPart {
  readonly column: Column;
  /** Where in the batch each datapoint stands. */
  readonly places: readonly number[];
  /** The bytes of each value. */
  readonly slices: readonly Slice[];
  /** Of each list: where its records start, and where the last one ends. */
  readonly limits: readonly Float64Array[] | undefined;
}

/**
 * Reads a batch in one go: all keys, of all shards.
 *
 * @param length How many datapoints it has.
 * @param memory What to read into; memory of their own where not given.
 * @returns The datapoints, whose values are bytes, or lists of such.
 */
export function* readBatch(
  length: number,
  parts: readonly BatchPart[],
  memory?: BatchRoom,
): Steps<Datapoint[]> {
  const slices: Slice[] = [];
  for (let source = 0; source < parts.length; source++) {
    for (const { offset, length } of parts[source]!.slices) {
      slices.push({ source, offset, length });
    }
  }
  const bytes = yield* readSlices(
    parts.map(({ column }) => column.bag.data),
    slices,
    undefined,
    memory && placesIn(memory, slices),
  );
  const batch = Array.from({ length }, (): Datapoint => ({}));
  let next = 0;
  for (const { column: { key }, places, limits } of parts) {
    for (let i = 0; i < places.length; i++) {
      const read = bytes[next++]!;
      const value = limits === undefined ? read : splitAt(read, limits[i]!);
      setOwn(batch[places[i]!]!, key, value);
    }
  }
  return batch;
}

/** Says that what a batch has to read will be read soon: what lies on servers is fetched. */
export function expectBatch(parts: readonly BatchPart[]): void {
  for (const { column, slices } of parts) {
    const { data } = column.bag;
    for (const { offset, length } of slices) {
      if (length > 0 && data.expect?.(offset, length) !== true) break;
    }
  }
}

/** The records of a list, in its bytes. */
function splitAt(bytes: Raw, limits: Float64Array): Raw[] {
  const start = limits[0]!;
  return Array.from(
    { length: limits.length - 1 },
    (_, k) => bytes.subarray(limits[k]! - start, limits[k + 1]! - start),
  );
}
