import { yieldToEventLoop } from "../io/concurrency/event_loop.ts";
import type { Effect } from "../io/concurrency/steps.ts";

/** Time slice in milliseconds, after which the event loop runs to accept new requests. */
const LONGEST_WORK = 8;

/** Start of the event loop's iteration, if queried since; else 0. */
let began = 0;
const waiting: (() => void)[] = [];

/** Whether the event loop's iteration has taken long, so that large tasks must be deferred. */
export function isLate(): boolean {
  const now = performance.now();
  if (began === 0) {
    began = now;
    setImmediate(begin);
  }
  return now - began > LONGEST_WORK;
}

/**
 * Waits for the caller's turn if there is much to do. Tasks run one at a time, and requests for small files are handled
 * between them. A turn includes what the caller does synchronously.
 */
export function itsTurn(): Promise<void> {
  if (waiting.length === 0 && !isLate()) return NOW;
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) void giveTurns();
  });
}

export const whenItsTurn: Effect<void> = { sync() {}, async: itsTurn };

async function giveTurns(): Promise<void> {
  while (waiting.length > 0) {
    await yieldToEventLoop();
    const end = performance.now() + LONGEST_WORK;
    while (waiting.length > 0 && performance.now() < end) {
      waiting[0]!();
      await new Promise((resolve) => setImmediate(resolve)); // lets the task run
      waiting.shift();
    }
  }
}

function begin(): void {
  began = 0;
}

const NOW = Promise.resolve();
