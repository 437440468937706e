import { clearImmediate, setImmediate } from "node:timers";
import { abortable } from "../../io/concurrency/abortable.ts";
import { BatchMemory, type BufferPool } from "../batch_memory.ts";
import type { BatchOrder } from "../samplers/sampler.ts";
import type { Batches, Delivered, LoopStart } from "./batches.ts";
import type { LoaderSettings } from "./loader_options.ts";
import type { BatchMaker } from "./batch/make_batch.ts";

/** How long a dataset may take to give up, in ms, before a loop that was left ends without it. */
const PATIENCE = 2000;

/**
 * The batches of a loop, loaded in the caller's thread, one after the other. The next ones are begun while
 * the caller works, or waits for what it does: where a batch is waited for (a disk, a server, a codec's own
 * threads), that takes no time of the caller's.
 */
export class LocalBatches implements Batches {
  readonly #maker: BatchMaker;
  readonly #order: BatchOrder;
  readonly #epoch: number;
  readonly #settings: LoaderSettings;
  readonly #pool: () => BufferPool | undefined;
  readonly #abort = new AbortController();
  /** Batches under way or ready, in their order. */
  readonly #queue: Promise<Delivered>[] = [];
  #last: Promise<unknown> = Promise.resolve();
  /** The step that is begun next. */
  #step: number;
  #later: ReturnType<typeof setImmediate> | undefined;

  /** @param pool Gives where memory of batches is that were given back, once one was. */
  constructor(
    maker: BatchMaker,
    { order, epoch, step }: LoopStart,
    settings: LoaderSettings,
    pool: () => BufferPool | undefined,
  ) {
    this.#maker = maker;
    this.#order = order;
    this.#epoch = epoch;
    this.#step = step;
    this.#settings = settings;
    this.#pool = pool;
  }

  async next(): Promise<Delivered> {
    if (this.#queue.length === 0) this.#begin();
    // Also of a dataset that does not give up.
    const batch = abortable(this.#queue[0]!, this.#abort.signal);
    const delivered = await abortable(batch, this.#settings.signal);
    this.#queue.shift();
    this.#beginLater();
    return delivered;
  }

  async end(): Promise<void> {
    clearImmediate(this.#later);
    this.#later = undefined;
    this.#abort.abort();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.then(() => resolve(), () => resolve()); // nobody asks for it
    const late = setTimeout(resolve, PATIENCE);
    await promise;
    clearTimeout(late);
  }

  #begin(): void {
    const step = this.#step++;
    const before = this.#last;
    const batch = before.then(() => this.#make(step));
    batch.catch(() => {}); // heard of when it is asked for
    this.#last = batch;
    this.#queue.push(batch);
  }

  /** Begins a batch when the caller, who has just got one, waits for something. */
  #beginLater(): void {
    if (this.#later !== undefined || !this.#hasRoom()) return;
    this.#later = setImmediate(() => {
      this.#later = undefined;
      if (!this.#hasRoom()) return;
      this.#begin();
      this.#last.then(() => this.#beginLater(), () => {});
    });
  }

  #hasRoom(): boolean {
    return !this.#abort.signal.aborted &&
      this.#queue.length < this.#settings.prefetchFactor &&
      this.#step < this.#order.length;
  }

  async #make(step: number): Promise<Delivered> {
    const { signal } = this.#abort;
    signal.throwIfAborted();
    const indices = this.#order.at(step);
    const job = { epoch: this.#epoch, step, indices };
    // Samples with memory of their own are read sooner than into one large buffer that is new.
    const pool = this.#pool();
    const read = pool && new BatchMemory(pool);
    const made = new BatchMemory(pool);
    const samples = await this.#maker.read(job, read, signal);
    const batch = await this.#maker.collate(samples, job, made, signal);
    return { batch, buffers: [...read?.buffers ?? [], ...made.buffers] };
  }
}
