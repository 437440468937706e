import { clearImmediate, setImmediate } from "node:timers";
import { abortable } from "../../io/concurrency/abortable.ts";
import { BatchMemory, BufferPool } from "../batch_memory.ts";
import type { Batches, Delivered, LoopStart } from "./batches.ts";
import type { LoaderSettings } from "./loader_options.ts";
import type { BatchMaker } from "./batch/make_batch.ts";
import { BatchesAhead } from "./batches_ahead.ts";
import type { BatchJob } from "./batch_error.ts";
import { StepsAhead } from "./steps_ahead.ts";
import { packBatch } from "./batch/pack_batch.ts";

/** Time limit for the dataset to stop when a loop is left, in ms. */
const PATIENCE = 2000;

/**
 * Loads the batches of a loop in the caller's thread, one after the other. The next ones begin while the caller
 * waits for something, so that their waits (for a disk, a server, a codec's own threads) cost the caller no time.
 *
 * @param poolOf Returns the pool of recycled memory, once a batch was recycled.
 */
export function localBatches(
  maker: BatchMaker,
  start: LoopStart,
  { prefetchFactor, signal, shared }: LoaderSettings,
  poolOf: () => BufferPool | undefined,
): Batches {
  const ending = new AbortController();
  /** Batches in flight or ready, in order. */
  const queue: Promise<Delivered>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const steps = new StepsAhead(start, prefetchFactor);
  const ahead = new BatchesAhead<BatchJob>((job) => maker.prefetch(job));
  /** Step to begin next. */
  let { step } = start;
  let later: ReturnType<typeof setImmediate> | undefined;

  const make = async (): Promise<Delivered> => {
    const { signal } = ending;
    signal.throwIfAborted();
    const job = steps.take();
    for (const later of steps.look()) ahead.add(later);
    ahead.begin(job);
    // Reading samples into their own memory is faster than into one large new buffer.
    const pool = poolOf() ?? (shared ? new BufferPool(0, true) : undefined);
    const read = pool && new BatchMemory(pool);
    const made = new BatchMemory(pool);
    const { samples, skipped } = await maker.read(job, read, made, signal);
    if (skipped.length === job.indices.length) {
      return { batch: undefined, skipped, buffers: [] };
    }
    let batch = await maker.collate(samples, job, made, signal);
    if (shared) {
      const memory = { samples: read!, batch: made };
      ({ batch } = packBatch(batch, undefined, memory));
    }
    return {
      batch,
      skipped,
      buffers: [...read?.buffers ?? [], ...made.buffers],
    };
  };
  const begin = () => {
    step++;
    const batch = last.then(make);
    batch.catch(() => {}); // `next` throws the error
    last = batch;
    queue.push(batch);
  };
  const hasRoom = () =>
    !ending.signal.aborted && queue.length < prefetchFactor &&
    step < start.order.length;
  /** Begins a batch when the caller, who has just received one, waits for something. */
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
      // Ends the wait even if the dataset ignores the signal.
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
      ahead.clear();
      const { promise, resolve } = Promise.withResolvers<void>();
      last.then(() => resolve(), () => resolve()); // its outcome is not needed
      const late = setTimeout(resolve, PATIENCE);
      await promise;
      clearTimeout(late);
    },
  };
}
