import { BufferPool, isDetached, withoutViews } from "../batch_memory.ts";
import type { Dataset } from "../dataset.ts";
import { importedFunction } from "../recipe.ts";
import type { Batches, Delivered, LoopStart } from "./batches.ts";
import type { Collate, LoaderSettings } from "./loader_options.ts";
import { localBatches } from "./local_batches.ts";
import { BatchMaker } from "./batch/make_batch.ts";
import { type CommonSetup, threadSetupOf } from "./threads/thread_setup.ts";
import { WorkerBatches } from "./threads/worker_batches.ts";
import { WorkerPool } from "./threads/worker_pool.ts";

/** Loads batches in this thread or in workers, and holds the memory of recycled batches. */
export class BatchLoading {
  readonly #dataset: Dataset<unknown>;
  readonly #settings: LoaderSettings;
  /** Setup of worker threads; `undefined` if there are none. */
  readonly #setup: CommonSetup | undefined;
  #threads: WorkerPool | undefined;
  #maker: BatchMaker | undefined;
  /** Memory of the batches that the caller holds. */
  readonly #delivered = new WeakMap<object, readonly ArrayBufferLike[]>();
  /** Memory for worker threads, by recycled batch. */
  readonly #free: ArrayBufferLike[][] = [];
  /** Memory for this thread, once the caller recycles batches. */
  #pool: BufferPool | undefined;

  /**
   * @throws {DataError} With code `not-portable` if worker threads are requested that cannot construct the dataset.
   */
  constructor(dataset: Dataset<unknown>, settings: LoaderSettings) {
    this.#dataset = dataset;
    this.#settings = settings;
    if (settings.numWorkers > 0) this.#setup = threadSetupOf(dataset, settings);
  }

  async begin(start: LoopStart): Promise<Batches> {
    if (this.#setup === undefined) {
      const pool = () => this.#pool;
      this.#maker ??= await this.#makerHere();
      return localBatches(this.#maker, start, this.#settings, pool);
    }
    if (this.#threads?.isOver) await this.#endThreads();
    this.#threads ??= new WorkerPool(this.#setup);
    return new WorkerBatches(this.#threads, start, this.#settings, this.#free);
  }

  /** Records the memory of a batch and returns the batch. */
  deliver({ batch, buffers }: Delivered): unknown {
    if (typeof batch === "object" && batch !== null && buffers.length > 0) {
      this.#delivered.set(batch, buffers);
    }
    return batch;
  }

  recycle(batch: unknown): void {
    const { numWorkers, prefetchFactor, shared } = this.#settings;
    // Each batch has buffers for what is read and for what is made of it.
    const most = 2 * prefetchFactor + 2;
    if (numWorkers === 0) this.#pool ??= new BufferPool(most, shared);
    if (typeof batch !== "object" || batch === null) return;
    const buffers = this.#delivered.get(batch);
    this.#delivered.delete(batch);
    if (buffers === undefined) return;
    const free = buffers.filter((buffer) => !isDetached(buffer))
      .map(withoutViews);
    if (this.#pool !== undefined) {
      for (const one of free) {
        this.#pool.give(one);
      }
    } else if (free.length > 0) this.#free.push(free);
    if (this.#free.length > numWorkers * prefetchFactor + 1) this.#free.shift();
  }

  /** Ends the threads and releases the memory. */
  async close(): Promise<void> {
    this.#free.length = 0;
    this.#pool = undefined;
    await this.#endThreads();
  }

  async #endThreads(): Promise<void> {
    const threads = this.#threads;
    this.#threads = undefined;
    await threads?.end();
  }

  async #makerHere(): Promise<BatchMaker> {
    const { collate: given, seed, skips } = this.#settings;
    const collate = given &&
      await importedFunction<Collate>(given);
    return new BatchMaker(this.#dataset, { collate, seed, skips });
  }
}
