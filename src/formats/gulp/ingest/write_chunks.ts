import type {
  AdapterRecipe,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
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
import { IngestError } from "./ingest_report.ts";
import { deserializeError, serializeError } from "../../../serialized_error.ts";

/** How chunks are written. */
export interface WriteOptions {
  readonly events: ChunkEvents;
  /** Told of each chunk that is complete. */
  readonly onChunk: (report: NumberedReport) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Writes chunks, in this thread one after the other, or in several.
 *
 * @param recipe How threads make the adapter.
 */
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
async function writeInThreads(
  recipe: AdapterRecipe,
  videos: number,
  count: number,
  jobs: readonly ChunkJob[],
  { events, onChunk, signal }: WriteOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const threads: ThreadWriter[] = [];
  let next = 0;
  const lane = async (_: unknown, number: number) => {
    const thread = new ThreadWriter(events);
    threads.push(thread);
    await thread.start(recipe, videos, number === 0);
    while (next < jobs.length) onChunk(await thread.write(jobs[next++]!));
  };
  try {
    const lanes = Array.from({ length: Math.min(count, jobs.length) }, lane);
    await abortable(Promise.all(lanes), signal);
  } finally {
    next = jobs.length;
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

/** How long a thread may take to give up, in milliseconds, before it is ended as it is. */
const PATIENCE = 5000;

/** Another thread that writes chunks, one at a time. */
class ThreadWriter {
  readonly #worker: Worker;
  readonly #events: ChunkEvents;
  #pending = Promise.withResolvers<FromWorker>();
  #isBusy = false;
  #job: ChunkJob | undefined;

  /** @param events Told of what happens; frames may come several at once. */
  constructor(events: ChunkEvents) {
    this.#events = events;
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: "recordfs ingest",
    });
    this.#pending.promise.catch(() => {}); // may fail when nobody waits
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) =>
      this.#hear(data);
    this.#worker.onerror = (event) => {
      event.preventDefault(); // or it would end this process
      this.#pending.reject(died(event.message));
    };
    this.#worker.onmessageerror = () =>
      this.#pending.reject(died("it sent what cannot be read"));
  }

  /**
   * Makes the adapter in the thread.
   *
   * @param length How many videos it has here.
   */
  async start(
    recipe: AdapterRecipe,
    length: number,
    isFirst: boolean,
  ): Promise<void> {
    const ready = await this.#ask({ kind: "adapter", recipe, isFirst });
    const found = ready.kind === "ready" ? ready.length : "none";
    if (found === length) return;
    throw new IngestError(
      "bad-adapter",
      `The adapter ${recipe.name} has ${length} videos here, and ${found} in ` +
        `another thread: it must be the same each time it is made, or use one worker`,
    );
  }

  /** Writes a chunk. */
  async write(job: ChunkJob): Promise<NumberedReport> {
    this.#job = job;
    const done = await this.#ask({ kind: "chunk", job });
    if (done.kind === "chunk") return done.report;
    throw died(`it answered ${done.kind}`);
  }

  /** Has the thread give up what is under way, and ends it. */
  async end(): Promise<void> {
    const wasBusy = this.#isBusy;
    if (wasBusy) {
      this.#send({ kind: "abort" });
      const patience = AbortSignal.timeout(PATIENCE);
      await abortable(this.#pending.promise, patience).catch(() => {});
    }
    this.#worker.terminate();
    if (wasBusy) this.#sweep();
  }

  /**
   * Removes what a thread had not completed that has died, or was ended as it is. It has the locks for a
   * while yet, but nobody else writes these chunks: that is what the lock of the journal is for.
   */
  #sweep(): void {
    if (this.#job === undefined) return;
    const { dataPath, metaPath } = this.#job;
    const directory = path.dirname(dataPath);
    const targets = [dataPath, metaPath].map((file) => path.basename(file));
    for (const name of fs.readdirSync(directory)) {
      if (!targets.includes(temporaryTarget(name) ?? "")) continue;
      fs.rmSync(path.join(directory, name), { force: true });
    }
  }

  async #ask(message: ToWorker): Promise<FromWorker> {
    this.#isBusy = true;
    this.#send(message);
    const answer = await this.#pending.promise;
    this.#isBusy = false;
    this.#pending = Promise.withResolvers();
    this.#pending.promise.catch(() => {});
    return answer;
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case "frames":
        return this.#events.frames(message.count, message.bytes);
      case "video":
        return this.#events.video(message.failed);
      case "ids":
        this.#events.ids(message.ids).then(
          () => this.#send({ kind: "ids", error: undefined }),
          (error) => this.#send({ kind: "ids", error: serializeError(error) }),
        );
        return;
      case "failed":
        return this.#pending.reject(
          deserializeError(message.error, IngestError),
        );
      default:
        return this.#pending.resolve(message);
    }
  }
}

function died(why: string): IngestError {
  return new IngestError(
    "worker-died",
    `A thread of the ingest has died: ${why}; what is complete can be resumed`,
  );
}
