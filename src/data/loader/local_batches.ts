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
  start: LoopStart,
  { prefetchFactor, signal, shared }: LoaderSettings,
  poolOf: () => BufferPool | undefined,
): Batches {
  const ending = new AbortController();
  /** Batches under way or ready, in their order. */
  const queue: Promise<Delivered>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const steps = new StepsAhead(start, prefetchFactor);
  const ahead = new BatchesAhead<BatchJob>((job) => maker.expect(job));
  /** The step that is begun next. */
  let { step } = start;
  let later: ReturnType<typeof setImmediate> | undefined;

  const make = async (): Promise<Delivered> => {
    const { signal } = ending;
    signal.throwIfAborted();
    const job = steps.take();
    for (const later of steps.look()) ahead.add(later);
    ahead.begin(job);
    // Samples with memory of their own are read sooner than into one large buffer that is new.
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
    batch.catch(() => {}); // heard of when it is asked for
    last = batch;
    queue.push(batch);
  };
  const hasRoom = () =>
    !ending.signal.aborted && queue.length < prefetchFactor &&
    step < start.order.length;
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
      ahead.clear();
      const { promise, resolve } = Promise.withResolvers<void>();
      last.then(() => resolve(), () => resolve()); // nobody asks for it
      const late = setTimeout(resolve, PATIENCE);
      await promise;
      clearTimeout(late);
    },
  };
}
