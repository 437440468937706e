/**
 * Keeps the event loop turning during asynchronous work that need not wait, so that timers, signals and servers of the
 * same thread get their turn.
 *
 * @module
 */
import type { Effect } from "./steps.ts";

/**
 * Longest time of work in ms before the event loop turns: a frame of a screen. A turn makes V8 collect garbage, so
 * twice as many would cost reads of 100 KB several percent.
 */
const LONGEST_WORK = 16;
/** The same while a thread starts, which takes some two dozen turns, one for each of its steps. */
const SHORT_WORK = 1;
/** Time that a thread takes to start, in ms. */
const STARTING = 300;

/** Threads that have not answered yet, and when to stop waiting for them. */
const starting = new Set<object>();
let startsUntil = 0;
let lastTurn = performance.now();
let turning: Promise<void> | undefined;

/**
 * Whether the event loop is due to turn: `while (shouldYield()) await yieldToEventLoop();`. Checked again after
 * waiting, because other waiters may have used the time up.
 */
export function shouldYield(): boolean {
  const now = performance.now();
  const isStarting = starting.size > 0 && now < startsUntil;
  return now - lastTurn > (isStarting ? SHORT_WORK : LONGEST_WORK);
}

/** Makes the event loop turn more often for a while, because a starting thread would otherwise take half a second. */
export function startsThread(thread: object): void {
  const now = performance.now();
  if (now > startsUntil) starting.clear(); // some never answer
  starting.add(thread);
  startsUntil = now + STARTING;
}

export function threadAnswers(thread: object): void {
  starting.delete(thread);
}

export const yieldWhenDue: Effect<void> = {
  sync() {},
  async async() {
    while (shouldYield()) await yieldToEventLoop();
  },
};

/** Lets the event loop turn, once for all concurrent callers. */
export function yieldToEventLoop(): Promise<void> {
  return turning ??= new Promise<void>((resolve) => setImmediate(resolve))
    .then(otherThread).then(() => {
      lastTurn = performance.now();
      turning = undefined;
    });
}

const NOTHING = new Uint8Array(0);

/**
 * Waits for another of Deno's threads, which takes a tenth of a millisecond. With `setImmediate` only, Deno 2.9.6
 * receives messages of threads only every 13 to 50 turns; if the other thread is fast, timers get no turn.
 */
function otherThread(): Promise<unknown> {
  return crypto.subtle.digest("SHA-1", NOTHING);
}
