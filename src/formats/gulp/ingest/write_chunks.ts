import type {
  AdapterRecipe,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import {
  type ChunkEvents,
  type ChunkJob,
  ingestChunk,
} from "./ingest_chunk.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import { ThreadWriter } from "./thread_writer.ts";

/** How chunks are written. */
export interface WriteOptions {
  readonly events: ChunkEvents;
  /** Told of each chunk that is complete. */
  readonly onChunk: (report: NumberedReport) => void;
  readonly signal: AbortSignal | undefined;
}

/** Writes chunks in this thread, one after the other. */
export async function writeHere(
  adapter: DatasetAdapter,
  jobs: readonly ChunkJob[],
  { events, onChunk, signal }: WriteOptions,
): Promise<void> {
  for (const job of jobs) {
    signal?.throwIfAborted();
    onChunk(await ingestChunk(adapter, job, events, signal));
  }
}

/**
 * Writes chunks in several threads, each the next that is left.
 *
 * @param recipe How each thread makes the adapter.
 * @param videos How many videos it has.
 */
export async function writeInThreads(
  recipe: AdapterRecipe,
  videos: number,
  count: number,
  jobs: readonly ChunkJob[],
  { events, onChunk, signal }: WriteOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const threads: ThreadWriter[] = [];
  const given = Promise.withResolvers<never>();
  given.promise.catch(() => {});
  const abort = () => given.reject(signal!.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let next = 0;
  const lane = async () => {
    const thread = new ThreadWriter(events);
    threads.push(thread);
    await thread.start(recipe, videos);
    while (next < jobs.length) onChunk(await thread.write(jobs[next++]!));
  };
  try {
    const lanes = Array.from({ length: Math.min(count, jobs.length) }, lane);
    await Promise.race([Promise.all(lanes), given.promise]);
  } finally {
    next = jobs.length;
    signal?.removeEventListener("abort", abort);
    await Promise.all(threads.map((thread) => thread.end()));
  }
}
