import { clearImmediate, setImmediate } from "node:timers";
import { unlessAborted } from "../../io/unless_aborted.ts";
import { BatchMemory, type BufferPool } from "../batch_memory.ts";
import type { BatchOrder } from "../samplers/sampler.ts";
import type { Batches, Delivered, LoopStart } from "./batches.ts";
import { buffersIn } from "./buffers_in.ts";
import type { BatchMaker, JobMemory } from "./make_batch.ts";

/** How batches are loaded in the caller's thread. */
export interface LocalLimits {
  /** Batches under way or ready. */
  readonly prefetchFactor: number;
  readonly signal: AbortSignal | undefined;
  /** Where memory of batches that were given back is; `undefined` as long as none was. */
  readonly pool: () => BufferPool | undefined;
}

/**
 * The batches of a loop, loaded in the caller's thread, one after the other. The next ones are begun while
 * the caller works, or waits for what it does: where a batch is waited for (a disk, a server, a codec's own
 * threads), that takes no time of the caller's.
 */
export class LocalBatches implements Batches {
  readonly #maker: BatchMaker<unknown, unknown>;
  readonly #order: BatchOrder;
  readonly #epoch: number;
  readonly #limits: LocalLimits;
  readonly #abort = new AbortController();
  /** Batches under way or ready, in their order. */
  readonly #queue: Promise<Delivered>[] = [];
  #last: Promise<unknown> = Promise.resolve();
  /** The step that is begun next. */
  #step: number;
  #later: ReturnType<typeof setImmediate> | undefined;

  constructor(
    maker: BatchMaker<unknown, unknown>,
    { order, epoch, step }: LoopStart,
    limits: LocalLimits,
  ) {
    this.#maker = maker;
    this.#order = order;
    this.#epoch = epoch;
    this.#step = step;
    this.#limits = limits;
  }

  async next(): Promise<Delivered> {
    if (this.#queue.length === 0) this.#begin();
    const { signal } = this.#limits;
    const delivered = await unlessAborted(this.#queue[0]!, signal);
    this.#queue.shift();
    this.#beginLater();
    return delivered;
  }

  async end(): Promise<void> {
    clearImmediate(this.#later);
    this.#later = undefined;
    this.#abort.abort();
    await this.#last.catch(() => {}); // nobody waits for it
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
      this.#queue.length < this.#limits.prefetchFactor &&
      this.#step < this.#order.length;
  }

  async #make(step: number): Promise<Delivered> {
    const { signal } = this.#abort;
    signal.throwIfAborted();
    const indices = this.#order.at(step);
    const job = { epoch: this.#epoch, step, indices };
    const pool = this.#limits.pool();
    const memory: JobMemory = {
      samples: new BatchMemory(pool),
      batch: new BatchMemory(pool),
    };
    const samples = await this.#maker.read(job, memory.samples, signal);
    const batch = await this.#maker.collate(samples, job, memory.batch, signal);
    return { batch, buffers: buffersOf(batch, memory, pool !== undefined) };
  }
}

/**
 * The loader's memory that is free when a batch is given back: what its samples were read into as well,
 * where batches are given back, since that would otherwise not live as long as they do.
 */
function buffersOf(
  batch: unknown,
  { samples, batch: own }: JobMemory,
  all: boolean,
): readonly ArrayBuffer[] {
  const buffers = [...samples.buffers, ...own.buffers];
  if (all || buffers.length === 0) return buffers;
  const shown = buffersIn(batch);
  return buffers.filter((buffer) => shown.has(buffer));
}
