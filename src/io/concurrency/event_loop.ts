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
/** The same while something takes a turn for each of its steps. */
const SHORT_WORK = 1;

let hurried = 0;
let lastTurn = performance.now();
let turning: Promise<void> | undefined;

/**
 * Tells when the event loop should go round: `while (shouldYield()) await yieldToEventLoop();`. Once more
 * after waiting, since whoever waited as well may have used the time up.
 */
export function shouldYield(): boolean {
  const longest = hurried > 0 ? SHORT_WORK : LONGEST_WORK;
  return performance.now() - lastTurn > longest;
}

/**
 * Has the event loop go round often: a thread that starts waits for it two dozen times, which took half a second.
 *
 * @returns Ends that, once.
 */
export function hurry(): () => void {
  hurried++;
  let isOver = false;
  return () => {
    if (!isOver) hurried--;
    isOver = true;
  };
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
  return turning ??= new Promise((resolve) => {
    setImmediate(() => {
      lastTurn = performance.now();
      turning = undefined;
      resolve();
    });
  });
}
