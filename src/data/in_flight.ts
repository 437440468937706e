import { ConcurrencyLimit } from "../io/concurrency/concurrency_limit.ts";

/** A thread has at least so many under way: one is decoded while another one is cropped and normalized. */
const LEAST = 2;

/** So many have no more to gain, however many processors there are. */
const MOST = 16;

/** Threads that share the processors. */
let threads = 1;

/**
 * Says that several threads load, so that together they have about as much under way as there are
 * processors. Codecs decode in threads of their own: with 16 images under way in each of two threads, two
 * processors decoded a fifth fewer than with 2 in each.
 *
 * @param count How many threads load.
 */
export function shareProcessors(count: number): void {
  threads = Math.max(count, 1);
}

/** Number of things that wait for a codec that a thread should have under way. */
function inFlightLimit(): number {
  const share = Math.ceil(navigator.hardwareConcurrency / threads);
  return Math.min(Math.max(share, LEAST), MOST);
}

/**
 * Makes several things, some of them at a time.
 *
 * @param count How many.
 * @param make Makes one, by its number.
 * @returns What was made, in the order of numbers.
 * @throws Once none is under way: the signal's reason, or what the one of the lowest number that failed
 * has thrown.
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
  // All have ended, also those below one that failed, so that the first is heard of, not the quickest.
  return await Promise.all(pieces);
}
