/**
 * Thread that loads batches; `WorkerThread` is its counterpart in the program's thread.
 *
 * @module
 */
import { messageOf } from "../../../base/message_text.ts";
import process from "node:process";
import { workerData } from "node:worker_threads";
import { leaveCodecAdvice } from "../../../codecs/image/choose_codec.ts";
import { shareDecodeMemory } from "../../../codecs/image/decode_memory.ts";
import { importThreadModules } from "../../../io/concurrency/thread_modules.ts";
import {
  BatchMemory,
  BufferPool,
  isDetached,
  withoutViews,
} from "../../batch_memory.ts";
import { DataError } from "../../data_error.ts";
import type { Dataset } from "../../dataset.ts";
import { followRecipe } from "../../recipe.ts";
import { shareProcessors } from "../../in_flight.ts";
import { BatchesAhead } from "../batches_ahead.ts";
import { batchError } from "../batch_error.ts";
import type { Collate } from "../loader_options.ts";
import { BatchMaker } from "../batch/make_batch.ts";
import {
  type FromThread,
  type LoadMessage,
  type ThreadSetup,
  type ToThread,
  transferable,
} from "./messages.ts";
import { markLoaderThread } from "./thread_setup.ts";
import { type JobMemory, packBatch } from "../batch/pack_batch.ts";
import { serializeError } from "../../../base/serialized_error.ts";

interface Started {
  readonly setup: ThreadSetup;
  readonly dataset: Dataset<unknown>;
  readonly maker: BatchMaker;
  /** Memory of recycled batches. */
  readonly pool: BufferPool;
}

/** Loads batches in a thread, one after the other. */
class ThreadLoader {
  #started: Started | undefined;
  readonly #ahead = new BatchesAhead<LoadMessage>((job) =>
    this.#started!.maker.prefetch(job)
  );
  /** Settles when all requests so far have. */
  #last: Promise<void> = Promise.resolve();
  /** Loops up to this one were cancelled. */
  #forgotten = -1;
  /** Loop of the current batch, and its abort controller. */
  #current: { loop: number; abort: AbortController } | undefined;

  /** Constructs the dataset; must be called first. */
  start(setup: ThreadSetup): void {
    this.#last = startedWith(setup).then(
      (started) => void (this.#started = started),
      (error) => send({ kind: "broken", error: serializeError(error) }),
    );
  }

  /** Loads a batch after those requested before, and sends it or its error. */
  load(job: LoadMessage): void {
    this.#ahead.add(job);
    if (this.#started !== undefined) this.#ahead.tellLater();
    this.#last = this.#last.then(() => this.#load(job));
  }

  /** Cancels the batches of loops up to this one. */
  forget(loop: number): void {
    this.#forgotten = loop;
    this.#ahead.clear(); // later requests are for later loops
    if (this.#current !== undefined && this.#current.loop <= loop) {
      this.#current.abort.abort();
    }
  }

  async close(): Promise<void> {
    this.forget(Infinity);
    await this.#last;
    this.#started?.dataset.close();
  }

  async #load(job: LoadMessage): Promise<void> {
    if (this.#started === undefined) return;
    const { pool } = this.#started;
    for (const buffer of job.memory) pool.give(buffer);
    const { loop, step } = job;
    if (loop <= this.#forgotten) return;
    const abort = new AbortController();
    this.#current = { loop, abort };
    const memory: JobMemory = {
      samples: new BatchMemory(pool),
      batch: new BatchMemory(pool),
    };
    let passed: readonly ArrayBufferLike[] = [];
    try {
      this.#ahead.begin(job);
      passed = await this.#make(this.#started, job, memory, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return; // cancelled
      send({ kind: "failed", loop, step, error: serializeError(error) });
    } finally {
      this.#current = undefined;
      if (!abort.signal.aborted) { // otherwise `process` may still be using it
        giveUnpassed(pool, memory.samples, passed);
        giveUnpassed(pool, memory.batch, passed);
      }
    }
  }

  /** @returns The buffers transferred to the program's thread. */
  async #make(
    { setup, maker }: Started,
    job: LoadMessage,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<readonly ArrayBufferLike[]> {
    const { loop, step } = job;
    const { samples: read, batch: stack } = memory;
    const { samples, skipped } = await maker.read(job, read, stack, signal);
    if (skipped.length === job.indices.length) {
      send({
        kind: "batch",
        loop,
        step,
        batch: undefined,
        skipped,
        buffers: [],
      });
      return [];
    }
    const made = await maker.collate(samples, job, stack, signal);
    try {
      // What the loader itself collates lies in its memory, or in that of the samples.
      const { batch, buffers } = packBatch(
        made,
        setup.collate && !setup.shared ? samples : undefined,
        memory,
      );
      send({ kind: "batch", loop, step, batch, skipped, buffers });
      return buffers;
    } catch (cause) {
      throw batchError(
        "bad-batch",
        `it cannot pass from its thread to the program's: ${messageOf(cause)}`,
        job,
        { worker: setup.worker, cause },
      );
    }
  }
}

/** Returns untransferred memory to the pool. Remaining views of it become empty, not wrong. */
function giveUnpassed(
  pool: BufferPool,
  { buffers }: BatchMemory,
  passed: readonly ArrayBufferLike[],
): void {
  for (const buffer of buffers) {
    if (passed.includes(buffer) || isDetached(buffer)) continue;
    pool.give(withoutViews(buffer));
  }
}

async function startedWith(setup: ThreadSetup): Promise<Started> {
  const { worker, numWorkers, init, length, seed } = setup;
  shareProcessors(numWorkers);
  shareDecodeMemory(setup.decodeMemory);
  if (worker > 0) leaveCodecAdvice();
  await importThreadModules(setup.modules);
  if (init !== undefined) {
    const call = await followRecipe(init) as (worker: number) => unknown;
    await call(worker);
  }
  const dataset = await followRecipe(setup.dataset) as Dataset<unknown>;
  try {
    if (dataset.length !== length) {
      throw new DataError(
        "worker-failed",
        `Cannot load: the dataset has ${dataset.length} samples there and ` +
          `${length} here. It must be the same in every thread`,
        { expected: length, actual: dataset.length },
      );
    }
    const collate = setup.collate &&
      await followRecipe(setup.collate) as Collate;
    const { skips } = setup;
    const maker = new BatchMaker(dataset, { collate, seed, skips, worker });
    const pool = new BufferPool(undefined, setup.shared);
    return { setup, dataset, maker, pool };
  } catch (error) {
    dataset.close();
    throw error;
  }
}

markLoaderThread();
const port = workerData as MessagePort;
const loader = new ThreadLoader();

port.onmessage = ({ data }: MessageEvent<ToThread>) => {
  switch (data.kind) {
    case "start":
      return loader.start(data.setup);
    case "load":
      return loader.load(data);
    case "forget":
      return loader.forget(data.loop);
    case "close":
      loader.close().finally(() => process.exit(0));
  }
};

/** Sends a message to the loader and transfers the memory of a batch. */
function send(message: FromThread): void {
  const buffers = message.kind === "batch" ? message.buffers : [];
  port.postMessage(message, transferable(buffers));
}
