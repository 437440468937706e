import { runAsync } from "../../../io/concurrency/steps.ts";
import type { Bag } from "../bag/bag.ts";
import { ENTRY, readEntry } from "../bag/index_entries.ts";

/** Entries that are read at a time. */
const BATCH = 32 * 1024;

/** Where some neighbouring records are. */
export interface RecordBatch {
  /** Number of the first of them. */
  readonly first: number;
  /**
   * Where the record before the first one starts, where the first one does, and where each ends: as the
   * index says, right or wrong. Record `first + i` is from `limits[i + 1]` to `limits[i + 2]`.
   */
  readonly limits: Float64Array;
  /** How many records there are. */
  readonly count: number;
}

/** Reads a bag's whole index, part by part. */
export async function* scanIndex(
  bag: Bag,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordBatch, void, undefined> {
  let [beforeStart, start] = [0, 0];
  for (let first = 0; first < bag.length; first += BATCH) {
    const count = Math.min(BATCH, bag.length - first);
    const bytes = await runAsync(bag.readEntries(first, count), signal);
    const limits = new Float64Array(count + 2);
    limits[0] = beforeStart;
    limits[1] = start;
    for (let i = 0; i < count; i++) limits[i + 2] = readEntry(bytes, i * ENTRY);
    beforeStart = limits[count]!;
    start = limits[count + 1]!;
    yield { first, limits, count };
  }
}
