/**
 * Keeps the event loop turning while asynchronous procedures do what they need not wait for: timers,
 * signals and servers of the same thread must get their turn.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** How long, in ms, is worked before other tasks get their turn. */
const LONGEST_WORK = 8;

let lastTurn = 0;
let turning: Promise<void> | undefined;

/**
 * Whether others are to have their turn: `while (isOthersTurn()) await otherTasks();`. Once more
 * after waiting, since whoever waited as well may have used the time up.
 */
export function isOthersTurn(): boolean {
  return performance.now() - lastTurn > LONGEST_WORK;
}

/** Lets the event loop go round, once for all who ask at the same time. */
export function otherTasks(): Promise<void> {
  return turning ??= new Promise((resolve) => {
    setImmediate(() => {
      lastTurn = performance.now();
      turning = undefined;
      resolve();
    });
  });
}
