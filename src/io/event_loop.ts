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

/** Whether it is time to call {@linkcode otherTasks}; `now` is `performance.now()`. */
export function isOthersTurn(now = performance.now()): boolean {
  return now - lastTurn > LONGEST_WORK;
}

/** Lets the event loop go round, once for all who ask at the same time. */
export async function otherTasks(): Promise<void> {
  // Again, where another one who waited has used the time up.
  do {
    turning ??= new Promise((resolve) => {
      setImmediate(() => {
        lastTurn = performance.now();
        turning = undefined;
        resolve();
      });
    });
    await turning;
  } while (isOthersTurn());
}
