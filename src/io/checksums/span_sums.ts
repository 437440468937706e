import { hasDescriptors } from "../storage/thread_descriptors.ts";
import { RangeSums, type Span, type Sums } from "./range_sums.ts";
import { SumThread } from "./sum_thread.ts";

/** Total bytes from which on threads pay off; starting one takes as long as reading this many. */
const WORTH_THREADS = 256 << 20;
/** More threads would be faster than what they read from. */
const MOST_THREADS = 3;
/** Spans in flight per thread, so that it does not wait for the next one. */
const SPANS = 2;
/** Spans begun before the first of them is waited for. */
const MOST_DONE = 16;

/** Target size of a span: small enough for progress, large enough for the cost of messaging a thread. */
export const SPAN = 32 << 20;

export interface SummedSpan<S extends Span> {
  readonly span: S;
  readonly sums: Sums;
}

interface Begun<S extends Span> {
  readonly span: S;
  /** Resolves to `undefined` if a thread failed. */
  readonly sums: Promise<Sums | undefined>;
  isDone: boolean;
}

/**
 * Computes the checksums of spans, in their order, with as many threads as there are processors for. Consumes spans on
 * demand. `bytes` is their approximate total size.
 */
export async function* spanSums<S extends Span>(
  spans: Iterable<S>,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<SummedSpan<S>, void, undefined> {
  const here = new RangeSums(signal);
  const most = bytes < WORTH_THREADS
    ? 0
    : Math.min(navigator.hardwareConcurrency - 1, MOST_THREADS);
  const threads: SumThread[] = [];
  while (threads.length < most && hasDescriptors(1)) {
    threads.push(new SumThread());
  }
  const list = spans[Symbol.iterator]();
  const begun: Begun<S>[] = [];
  const begin = (span: S, sums: Promise<Sums | undefined>) => {
    const one = { span, sums, isDone: false };
    begun.push(one);
    sums.then(() => one.isDone = true, () => {}); // awaiting the span reports the error
    return sums;
  };
  try {
    for (let isOver = false; !isOver || begun.length > 0;) {
      for (const thread of threads) {
        while (!isOver && thread.load < SPANS) {
          const { done, value } = list.next();
          isOver = done === true;
          if (!done) begin(value, thread.sums(value));
        }
      }
      const own = list.next();
      isOver = own.done === true;
      if (!own.done) await begin(own.value, here.of(own.value));
      while (
        begun.length > 0 &&
        (isOver || begun[0]!.isDone || begun.length > MOST_DONE)
      ) {
        const { span, sums } = begun.shift()!;
        yield { span, sums: await sums ?? await here.of(span) };
      }
    }
  } finally {
    await Promise.all([here.end(), ...threads.map((thread) => thread.close())]);
  }
}
