import { readPart } from "../../io/read_part.ts";
import { runAsync } from "../../io/steps.ts";
import type { BagFile } from "./bag_file.ts";
import { ENTRY, readEntry } from "./index_entries.ts";

/** Entries that are read at a time. */
const BATCH = 32 * 1024;

/** Where some neighbouring records are. */
export interface RecordBatch {
  /** Number of the first of them. */
  readonly first: number;
  /** Where the first one starts, and where each ends: as the index says, right or wrong. */
  readonly limits: Float64Array;
}

/** Reads a bag's whole index, part by part. */
export async function* scanIndex(
  bag: BagFile,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordBatch, void, undefined> {
  let before = 0;
  for (let first = 0; first < bag.length; first += BATCH) {
    const count = Math.min(BATCH, bag.length - first);
    const start = bag.indexStart + first * ENTRY;
    const steps = readPart(bag.index, start, count * ENTRY);
    const bytes = await runAsync(steps, signal);
    const limits = new Float64Array(count + 1);
    limits[0] = before;
    for (let i = 0; i < count; i++) limits[i + 1] = readEntry(bytes, i * ENTRY);
    before = limits[count]!;
    yield { first, limits };
  }
}
