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
export function inFlightLimit(): number {
  const share = Math.ceil(navigator.hardwareConcurrency / threads);
  return Math.min(Math.max(share, LEAST), MOST);
}
