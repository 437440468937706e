import type { Steps } from "../../../io/concurrency/steps.ts";
import { type BatchRoom, placesIn } from "../../../io/read/read_memory.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { Slice } from "../../../io/read/slice_runs.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { Column, Raw } from "./column.ts";
import type { Datapoint } from "./selection.ts";

/** Values of one key that a batch reads from one shard. */
export interface BatchPart {
  readonly column: Column;
  /** Position in the batch of each datapoint. */
  readonly places: readonly number[];
  readonly slices: readonly Slice[];
  /** For each list: the start of each record, followed by the end of the last. */
  readonly limits: readonly Float64Array[] | undefined;
}

/** Reads a batch of datapoints: all keys of all shards at once. Values are bytes, or lists of bytes. */
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

/** Hints that a batch will be read soon, so that remote ranges are fetched. */
export function prefetchBatch(parts: readonly BatchPart[]): void {
  for (const { column, slices } of parts) {
    const { data } = column.bag;
    for (const { offset, length } of slices) {
      if (length > 0 && data.prefetch?.(offset, length) !== true) break;
    }
  }
}

function splitAt(bytes: Raw, limits: Float64Array): Raw[] {
  const start = limits[0]!;
  return Array.from(
    { length: limits.length - 1 },
    (_, k) => bytes.subarray(limits[k]! - start, limits[k + 1]! - start),
  );
}
