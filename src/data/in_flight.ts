import { ConcurrencyLimit } from "../io/concurrency/concurrency_limit.ts";

/** Minimum number in flight per thread: one is decoded while another is cropped and normalized. */
const LEAST = 2;

/** Maximum number in flight per thread: more gain nothing, however many processors there are. */
const MOST = 16;

/** Number of threads that share the processors. */
let threads = 1;

/**
 * Sets the number of threads that load, so that together they have about as many items in flight as there are
 * processors. Codecs decode in threads of their own: with 16 images in flight in each of two threads, two
 * processors decoded a fifth fewer than with 2 in each.
 */
export function shareProcessors(count: number): void {
  threads = Math.max(count, 1);
}

/** Returns how many items that wait for a codec a thread should have in flight. */
function inFlightLimit(): number {
  const share = Math.ceil(navigator.hardwareConcurrency / threads);
  return Math.min(Math.max(share, LEAST), MOST);
}

/**
 * Makes `count` items by their numbers, at most `most` of them concurrently. Returns them in the order of their
 * numbers.
 *
 * @throws After all items in flight have settled: the signal's reason, or else the error of the lowest number that
 * failed.
 */
export async function inFlight<T>(
  count: number,
  make: (i: number) => Promise<T>,
  signal: AbortSignal | undefined,
  most: number = inFlightLimit(),
): Promise<T[]> {
  const pieces: Promise<T>[] = [];
  const flight = new ConcurrencyLimit(most);
  for (let i = 0; i < count; i++) {
    await flight.room();
    if (flight.failed || signal?.aborted) break;
    const piece = make(i);
    pieces.push(piece);
    flight.add(piece);
  }
  await flight.end().catch(() => {});
  signal?.throwIfAborted();
  // All have settled, so that the error is that of the lowest number, not of the quickest.
  return await Promise.all(pieces);
}
