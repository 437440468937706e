/**
 * Keeps the event loop turning while asynchronous procedures do what they need not wait for: timers,
 * signals and servers of the same thread must get their turn.
 *
 * @module
 */
import type { Effect } from "./steps.ts";

/**
 * How long, in ms, is worked before other tasks get their turn: a frame of a screen. A turn has V8
 * collect garbage, so that twice as many would cost reads of 100 KB several percent.
 */
const LONGEST_WORK = 16;
/** The same while a thread starts, which takes a turn for each of its steps: some two dozen. */
const SHORT_WORK = 1;
/** How long a thread takes to start, in ms. */
const STARTING = 300;

/** Threads that have not answered yet, and until when that is waited for. */
const starting = new Set<object>();
let startsUntil = 0;
let lastTurn = performance.now();
let turning: Promise<void> | undefined;

/**
 * Tells when the event loop should go round: `while (shouldYield()) await yieldToEventLoop();`. Once more
 * after waiting, since whoever waited as well may have used the time up.
 */
export function shouldYield(): boolean {
  const now = performance.now();
  const isStarting = starting.size > 0 && now < startsUntil;
  return now - lastTurn > (isStarting ? SHORT_WORK : LONGEST_WORK);
}

/** Has the event loop go round more often for a while: a thread that starts waits for it, half a second otherwise. */
export function startsThread(thread: object): void {
  const now = performance.now();
  if (now > startsUntil) starting.clear(); // some never answer
  starting.add(thread);
  startsUntil = now + STARTING;
}

/** Ends what {@linkcode startsThread} began: the thread has answered. */
export function threadAnswers(thread: object): void {
  starting.delete(thread);
}

/** Lets the event loop go round where it should. */
export const yieldWhenDue: Effect<void> = {
  sync() {},
  async async() {
    while (shouldYield()) await yieldToEventLoop();
  },
};

/** Lets the event loop go round, once for all who ask at the same time. */
export function yieldToEventLoop(): Promise<void> {
  return turning ??= new Promise<void>((resolve) => setImmediate(resolve))
    .then(otherThread).then(() => {
      lastTurn = performance.now();
      turning = undefined;
    });
}

const NOTHING = new Uint8Array(0);

/**
 * Waits for another thread, of those that Deno has for such work: a tenth of a millisecond. As long as one
 * `setImmediate` follows the other, Deno 2.9.6 hears what threads have said only every 13 to 50 of them; and where
 * the other thread is quick, timers get no turn.
 */
function otherThread(): Promise<unknown> {
  return crypto.subtle.digest("SHA-1", NOTHING);
}
