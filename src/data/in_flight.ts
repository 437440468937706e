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
  const results = new Array<T>(count);
  const flight = new ConcurrencyLimit(most);
  const failures: { readonly i: number; readonly error: unknown }[] = [];
  for (let i = 0; i < count; i++) {
    await flight.room();
    if (failures.length > 0 || signal?.aborted) break;
    flight.add(
      make(i).then(
        (result) => void (results[i] = result),
        (error) => void failures.push({ i, error }),
      ),
    );
  }
  await flight.end();
  signal?.throwIfAborted();
  // All below one that failed have ended, so this is the first, whichever was the quickest.
  failures.sort((a, b) => a.i - b.i);
  if (failures[0] !== undefined) throw failures[0].error;
  return results;
}
