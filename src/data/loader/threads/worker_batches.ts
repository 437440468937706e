import { messageOf } from "../../../base/message_text.ts";
import { ImageError } from "../../../codecs/image/image_error.ts";
import { VideoError } from "../../../codecs/video/video_error.ts";
import {
  deserializeError,
  type SerializedError,
} from "../../../base/serialized_error.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import { sizeOfAll } from "../../batch_memory.ts";
import { DataError } from "../../data_error.ts";
import type { Order } from "../../samplers/sampler.ts";
import { BatchError, batchError, type BatchJob } from "../batch_error.ts";
import type { Batches, Delivered, LoopStart } from "../batches.ts";
import type { FromThread } from "./messages.ts";
import type { LoaderSettings } from "../loader_options.ts";
import type { ThreadEnd, WorkerPool, WorkerThread } from "./worker_pool.ts";

/**
 * Bytes of batches after which V8 is prompted to free unreferenced ones. With less, the prompt costs more than new
 * memory; with more, memory is used that was long unused, which costs the system more time.
 */
const LOOK_AFTER = 128 << 20;

type Outcome = Delivered | { readonly error: unknown };

/**
 * Batches of a loop, loaded by threads and delivered in order. Each goes to the thread with the fewest jobs; taking
 * one starts another.
 */
export class WorkerBatches implements Batches {
  readonly #pool: WorkerPool;
  readonly #order: Order<number[]>;
  readonly #epoch: number;
  readonly #settings: LoaderSettings;
  readonly #memory: ArrayBufferLike[][];
  readonly #loop: number;
  /** Unanswered jobs of each thread, oldest first. */
  readonly #jobs: ReadonlyMap<WorkerThread, BatchJob[]>;
  readonly #outcomes = new Map<number, Outcome>();
  /** Steps to request next and to deliver next. */
  #asked: number;
  #taken: number;
  #failure: unknown;
  #stuck: WorkerThread | undefined;
  #wake: () => void = () => {};
  /** Bytes received since V8 was last prompted, minus those recycled. */
  #unseen = 0;

  /** @param memory Memory of recycled batches, to be passed to the threads. */
  constructor(
    pool: WorkerPool,
    { order, epoch, step }: LoopStart,
    settings: LoaderSettings,
    memory: ArrayBufferLike[][],
  ) {
    this.#pool = pool;
    this.#order = order;
    this.#epoch = epoch;
    this.#settings = settings;
    this.#memory = memory;
    this.#asked = step;
    this.#taken = step;
    this.#loop = pool.nextLoop();
    this.#jobs = new Map(pool.threads.map((thread) => [thread, []]));
    pool.events = {
      heard: (thread, message) => this.#hear(thread, message),
      died: (thread, end) => this.#died(thread, end),
    };
    this.#ask();
  }

  async next(): Promise<Delivered> {
    const step = this.#taken;
    if (this.#failure === undefined && !this.#outcomes.has(step)) {
      await this.#wait(step);
    }
    const outcome = this.#outcomes.get(step);
    if (outcome === undefined) throw this.#failure;
    if ("error" in outcome) {
      this.#failure = outcome.error;
      throw outcome.error;
    }
    this.#outcomes.delete(step);
    this.#taken++;
    this.#ask();
    return outcome;
  }

  async end(keep: boolean): Promise<void> {
    this.#pool.events = undefined;
    this.#outcomes.clear();
    this.#failure ??= new DOMException("The loop has ended", "AbortError");
    this.#wake(); // a pending `next` would wait forever
    if (keep && !this.#pool.isOver) {
      this.#pool.forget(this.#loop);
    } else {
      await this.#pool.end(this.#stuck);
    }
  }

  /** Gives the threads as many jobs as they may have. */
  #ask(): void {
    const most = this.#pool.threads.length * this.#settings.prefetchFactor;
    while (
      this.#asked - this.#taken < most && this.#asked < this.#order.length
    ) {
      const thread = this.#leastBusy();
      if (thread === undefined) return;
      const step = this.#asked++;
      let indices: number[];
      try {
        indices = this.#order.at(step);
      } catch (error) {
        this.#outcomes.set(step, { error });
        return;
      }
      const job: BatchJob = { epoch: this.#epoch, step, indices };
      const memory = this.#memory.shift() ?? [];
      this.#unseen -= sizeOfAll(memory);
      this.#jobs.get(thread)!.push(job);
      thread.send({ kind: "load", loop: this.#loop, ...job, memory });
    }
  }

  #leastBusy(): WorkerThread | undefined {
    let best: WorkerThread | undefined;
    let fewest = Infinity;
    for (const [thread, { length }] of this.#jobs) {
      if (length >= fewest || !thread.isAlive) continue;
      best = thread;
      fewest = length;
    }
    return best;
  }

  #hear(thread: WorkerThread, message: FromThread): void {
    if (message.kind === "broken") {
      const cause = receive(message.error);
      this.#failure ??= new DataError(
        "worker-failed",
        `Cannot load in the loader's thread ${thread.worker}: ` +
          `${messageOf(cause)}`,
        { cause },
      );
    } else if (message.loop !== this.#loop) {
      return; // of a previous loop
    } else {
      this.#jobs.get(thread)!.shift();
      if (message.kind === "batch") this.#have(message.buffers);
      const outcome = message.kind === "batch"
        ? message
        : { error: receive(message.error) };
      this.#outcomes.set(message.step, outcome);
    }
    this.#wake();
  }

  /**
   * Prompts V8 to free unreferenced batches. V8 checks the memory of its young buffers when it allocates one, not
   * when one arrives from another thread (`Heap::AllocateExternalBackingStore`).
   */
  #have(buffers: readonly ArrayBufferLike[]): void {
    this.#unseen += sizeOfAll(buffers);
    if (this.#unseen < LOOK_AFTER) return;
    this.#unseen = 0;
    new ArrayBuffer(1);
  }

  #died(thread: WorkerThread, { code, error }: ThreadEnd): void {
    const jobs = this.#jobs.get(thread)!.splice(0);
    const { worker } = thread;
    const why = error === undefined
      ? `its thread ended itself (exit code ${code}): what loads samples must not call Deno.exit, ` +
        `process.exit or close`
      : `its thread died of an error that nothing caught: ${messageOf(error)}`;
    for (const job of jobs) {
      this.#outcomes.set(job.step, {
        error: batchError("worker-died", why, job, {
          worker,
          cause: error,
        }),
      });
    }
    if (jobs.length === 0) {
      this.#failure ??= new DataError(
        "worker-died",
        `Cannot load in the loader's thread ${worker}: it had nothing to ` +
          `do, and ended: ${why}`,
        { cause: error },
      );
    }
    this.#wake();
  }

  /** Waits until a step has an outcome or the loop has failed. */
  async #wait(step: number): Promise<void> {
    const { timeout, signal } = this.#settings;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wake = () => {
      if (this.#outcomes.has(step) || this.#failure !== undefined) resolve();
    };
    const late = timeout === 0
      ? undefined
      : setTimeout(() => reject(this.#late(step)), timeout);
    this.#pool.keepRunning(true);
    try {
      await abortable(promise, signal);
    } catch (error) {
      this.#failure = error;
      throw error;
    } finally {
      this.#pool.keepRunning(false);
      clearTimeout(late);
      this.#wake = () => {};
    }
  }

  #late(step: number): BatchError {
    const [thread, jobs] = [...this.#jobs].find(([, jobs]) =>
      jobs.some((job) => job.step === step)
    )!;
    this.#stuck = thread;
    const job = jobs.find((job) => job.step === step)!;
    return batchError(
      "worker-timeout",
      `timeout: thread ${thread.worker} has not loaded it within ` +
        `${this.#settings.timeout} ms, and was abandoned. Raise ` +
        "'timeout', or find out what it waits for",
      job,
      { worker: thread.worker },
    );
  }
}

function receive(error: SerializedError): Error {
  return deserializeError(error, BatchError, DataError, ImageError, VideoError);
}
