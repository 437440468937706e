import { clearImmediate, setImmediate } from "node:timers";
import { abortable } from "../../io/concurrency/abortable.ts";
import { BatchMemory, BufferPool } from "../batch_memory.ts";
import type { Batches, Delivered, LoopStart } from "./batches.ts";
import type { LoaderSettings } from "./loader_options.ts";
import type { BatchMaker } from "./batch/make_batch.ts";
import { packBatch } from "./batch/pack_batch.ts";

/** Time that a dataset may take to give up, in ms, before a loop that was left ends without it. */
const PATIENCE = 2000;

/**
 * The batches of a loop, loaded in the caller's thread, one after the other. The next ones are begun while
 * the caller works, or waits for what it does: where a batch is waited for (a disk, a server, a codec's own
 * threads), that takes no time of the caller's.
 *
 * @param poolOf Gives where memory of batches is that were given back, once one was.
 */
export function localBatches(
  maker: BatchMaker,
  { order, epoch, step: first }: LoopStart,
  { prefetchFactor, signal, shared }: LoaderSettings,
  poolOf: () => BufferPool | undefined,
): Batches {
  const ending = new AbortController();
  /** Batches under way or ready, in their order. */
  const queue: Promise<Delivered>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  /** The step that is begun next. */
  let step = first;
  let later: ReturnType<typeof setImmediate> | undefined;

  const make = async (step: number): Promise<Delivered> => {
    const { signal } = ending;
    signal.throwIfAborted();
    const job = { epoch, step, indices: order.at(step) };
    // Samples with memory of their own are read sooner than into one large buffer that is new.
    const pool = poolOf() ?? (shared ? new BufferPool(0, true) : undefined);
    const read = pool && new BatchMemory(pool);
    const made = new BatchMemory(pool);
    const samples = await maker.read(job, read, made, signal);
    let batch = await maker.collate(samples, job, made, signal);
    if (shared) {
      const memory = { samples: read!, batch: made };
      ({ batch } = packBatch(batch, undefined, memory));
    }
    return { batch, buffers: [...read?.buffers ?? [], ...made.buffers] };
  };
  const begin = () => {
    const begun = step++;
    const batch = last.then(() => make(begun));
    batch.catch(() => {}); // heard of when it is asked for
    last = batch;
    queue.push(batch);
  };
  const hasRoom = () =>
    !ending.signal.aborted && queue.length < prefetchFactor &&
    step < order.length;
  /** Begins a batch when the caller, who has just got one, waits for something. */
  const beginLater = () => {
    if (later !== undefined || !hasRoom()) return;
    later = setImmediate(() => {
      later = undefined;
      if (!hasRoom()) return;
      begin();
      last.then(beginLater, () => {});
    });
  };
  return {
    async next() {
      if (queue.length === 0) begin();
      // Also of a dataset that does not give up.
      const batch = abortable(queue[0]!, ending.signal);
      const delivered = await abortable(batch, signal);
      queue.shift();
      beginLater();
      return delivered;
    },
    async end() {
      clearImmediate(later);
      later = undefined;
      ending.abort();
      const { promise, resolve } = Promise.withResolvers<void>();
      last.then(() => resolve(), () => resolve()); // nobody asks for it
      const late = setTimeout(resolve, PATIENCE);
      await promise;
      clearTimeout(late);
    },
  };
}
