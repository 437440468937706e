import { optionText, RESUME } from "../../../base/named_option.ts";
import { startThread } from "../../../io/concurrency/thread.ts";
import { requireDescriptors } from "../../../io/storage/thread_descriptors.ts";
import type { DatasetAdapter } from "../adapters/dataset_adapter.ts";
import type { AdapterRecipe } from "../adapters/load_adapter.ts";
import {
  type ChunkEvents,
  type ChunkJob,
  type FromWorker,
  ingestChunk,
  type ToWorker,
} from "./ingest_chunk.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import { abortable } from "../../../io/concurrency/abortable.ts";
import { temporaryTarget } from "../../../io/write/temporaries.ts";
import { IngestError } from "./ingest_error.ts";
import {
  deserializeError,
  serializeError,
} from "../../../base/serialized_error.ts";

export interface WriteOptions {
  readonly events: ChunkEvents;
  readonly onChunk: (report: NumberedReport) => void;
  readonly signal: AbortSignal | undefined;
}

/** Writes one chunk; calls `onGathered` when all videos are gathered and only disk writes remain. */
type WriteChunk = (
  job: ChunkJob,
  onGathered: () => void,
) => Promise<NumberedReport>;

class ChunkQueue {
  readonly #jobs: readonly ChunkJob[];
  readonly #onChunk: (report: NumberedReport) => void;
  #next = 0;

  constructor(
    jobs: readonly ChunkJob[],
    onChunk: (report: NumberedReport) => void,
  ) {
    this.#jobs = jobs;
    this.#onChunk = onChunk;
  }

  /** Starts no further chunks. */
  stop(): void {
    this.#next = this.#jobs.length;
  }

  /** Writes chunks in sequence; the disk writes of one overlap the gathering of the next. */
  async write(write: WriteChunk): Promise<void> {
    let finishing: Promise<void> | undefined;
    while (this.#next < this.#jobs.length) {
      const gathered = Promise.withResolvers<void>();
      const writing = write(this.#jobs[this.#next++]!, gathered.resolve)
        .then(this.#onChunk);
      writing.catch(() => {}); // awaited later
      await Promise.race([gathered.promise, writing]);
      await finishing;
      finishing = writing;
    }
    await finishing;
  }
}

/** Writes chunks, in sequence in this thread, or in several threads, which make the adapter by `recipe`. */
export async function writeChunks(
  adapter: DatasetAdapter,
  recipe: AdapterRecipe | undefined,
  workers: number,
  jobs: readonly ChunkJob[],
  options: WriteOptions,
): Promise<void> {
  if (recipe !== undefined && workers > 1) {
    return await writeInThreads(recipe, adapter.length, workers, jobs, options);
  }
  const { events, onChunk, signal } = options;
  const failed = new AbortController();
  const ending = signal === undefined
    ? failed.signal
    : AbortSignal.any([signal, failed.signal]);
  const queue = new ChunkQueue(jobs, onChunk);
  const underWay = new Set<Promise<unknown>>();
  try {
    await queue.write((job, onGathered) => {
      ending.throwIfAborted();
      const ids = async (ids: readonly string[]) => {
        await events.ids(ids);
        onGathered();
      };
      const writing = ingestChunk(adapter, job, { ...events, ids }, ending);
      underWay.add(writing);
      return writing;
    });
  } finally {
    failed.abort();
    await Promise.allSettled(underWay); // started chunks clean up before this returns
  }
}

/** Writes chunks in several threads; each takes the next remaining one. `videos` is the adapter's length. */
async function writeInThreads(
  recipe: AdapterRecipe,
  videos: number,
  count: number,
  jobs: readonly ChunkJob[],
  { events, onChunk, signal }: WriteOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const most = Math.min(count, jobs.length);
  requireDescriptors(most, "threads of an ingest");
  const threads: ThreadWriter[] = [];
  const queue = new ChunkQueue(jobs, onChunk);
  const lane = async (_: unknown, number: number) => {
    const thread = new ThreadWriter(events);
    threads.push(thread);
    await thread.start(recipe, videos, number === 0);
    await queue.write((job, onGathered) => thread.write(job, onGathered));
  };
  try {
    const lanes = Array.from({ length: most }, lane);
    await abortable(Promise.all(lanes), signal);
  } finally {
    queue.stop();
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

/** Timeout for a thread to abort before it is terminated, in milliseconds. */
const PATIENCE = 5000;

interface WrittenChunk {
  readonly job: ChunkJob;
  readonly onGathered: () => void;
  readonly report: PromiseWithResolvers<NumberedReport>;
}

/** A thread that writes chunks: the disk writes of one overlap the gathering of the next. */
class ThreadWriter {
  readonly #worker: Worker;
  readonly #events: ChunkEvents;
  /** Resolves to the number of videos of the thread's adapter. */
  readonly #ready = Promise.withResolvers<number>();
  /** Requested chunks that are not complete, by number. */
  readonly #chunks = new Map<number, WrittenChunk>();
  #isStarting = false;

  /** @param events Callbacks; one call may report several frames. */
  constructor(events: ChunkEvents) {
    this.#events = events;
    const module = new URL("./worker.ts", import.meta.url);
    this.#worker = startThread<FromWorker>(module, "recordfs ingest", {
      heard: (message) => this.#hear(message),
      died: (why) => this.#fail(died(why)),
    });
    this.#ready.promise.catch(() => {}); // may reject when nobody waits
  }

  /** Makes the adapter in the thread, where it must have the same `length`. */
  async start(
    recipe: AdapterRecipe,
    length: number,
    isFirst: boolean,
  ): Promise<void> {
    this.#isStarting = true;
    this.#send({ kind: "adapter", recipe, isFirst });
    const found = await this.#ready.promise;
    this.#isStarting = false;
    if (found === length) return;
    throw new IngestError(
      "bad-adapter",
      `Cannot use several workers: the adapter ${recipe.name} has ` +
        `${length} videos here, and ${found} in another thread. Make it the ` +
        "same each time, or use one worker",
    );
  }

  write(job: ChunkJob, onGathered: () => void): Promise<NumberedReport> {
    const report = Promise.withResolvers<NumberedReport>();
    this.#chunks.set(job.number, { job, onGathered, report });
    this.#send({ kind: "chunk", job });
    return report.promise;
  }

  /** Aborts the current work and terminates the thread. */
  async end(): Promise<void> {
    const chunks = [...this.#chunks.values()];
    if (chunks.length > 0 || this.#isStarting) {
      this.#send({ kind: "abort" });
      const patience = AbortSignal.timeout(PATIENCE);
      const all = chunks.map(({ report }) => report.promise);
      const ended = Promise.allSettled(
        this.#isStarting ? [this.#ready.promise] : all,
      );
      await abortable(ended, patience).catch(() => {});
    }
    this.#worker.terminate();
    for (const { job } of chunks) sweep(job);
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        return this.#ready.resolve(message.length);
      case "frames":
        return this.#events.frames(message.count, message.bytes);
      case "video":
        return this.#events.video(message.failed);
      case "ids":
        this.#events.ids(message.ids).then(
          () => {
            this.#send({ kind: "ids", error: undefined });
            this.#chunks.get(message.chunk)?.onGathered();
          },
          (error) => this.#send({ kind: "ids", error: serializeError(error) }),
        );
        return;
      case "chunk": {
        const { report } = message;
        this.#chunks.get(report.chunk)?.report.resolve(report);
        this.#chunks.delete(report.chunk);
        return;
      }
      case "failed": {
        const error = deserializeError(message.error, IngestError);
        if (message.chunk === undefined) return this.#ready.reject(error);
        return this.#chunks.get(message.chunk)?.report.reject(error);
      }
    }
  }

  /** Rejects all pending work after the thread has died. */
  #fail(error: unknown): void {
    this.#ready.reject(error);
    for (const { report } of this.#chunks.values()) report.reject(error);
  }
}

/**
 * Removes the incomplete output of a thread that died or was terminated. The thread may hold its locks a little longer,
 * but the journal's lock prevents others from writing these chunks.
 */
function sweep({ dataPath, metaPath, only }: ChunkJob): void {
  // The data file of a new chunk gets its name before its meta file.
  if (only === undefined && !fs.existsSync(metaPath)) {
    fs.rmSync(dataPath, { force: true });
  }
  const directory = path.dirname(dataPath);
  const targets = [dataPath, metaPath].map((file) => path.basename(file));
  for (const name of fs.readdirSync(directory)) {
    if (!targets.includes(temporaryTarget(name) ?? "")) continue;
    fs.rmSync(path.join(directory, name), { force: true });
  }
}

function died(why: string): IngestError {
  return new IngestError(
    "worker-died",
    `Cannot finish the ingest: a thread died: ${why}. Continue it with ${
      optionText(RESUME)
    }`,
    { namedOptions: [RESUME] },
  );
}
