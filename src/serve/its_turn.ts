import { yieldToEventLoop } from "../io/concurrency/event_loop.ts";
import type { Effect } from "../io/concurrency/steps.ts";

/** How long is worked, in ms, until the event loop goes round: new requests are looked for then. */
const LONGEST_WORK = 8;

/** When the event loop began to go round, if anybody has asked since; 0 if nobody has. */
let began = 0;
const waiting: (() => void)[] = [];

/** Whether the event loop has not gone round for long: others come before anything large then. */
export function isLate(): boolean {
  const now = performance.now();
  if (began === 0) {
    began = now;
    setImmediate(begin);
  }
  return now - began > LONGEST_WORK;
}

/**
 * Waits, where there is much to do, until it is the caller's turn: one after the other does its work, and small files
 * that others ask for meanwhile are answered between. What the caller does at once belongs to its turn.
 */
export function itsTurn(): Promise<void> {
  if (waiting.length === 0 && !isLate()) return NOW;
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) void giveTurns();
  });
}

/** {@linkcode itsTurn} in a procedure. */
export const whenItsTurn: Effect<void> = { sync() {}, async: itsTurn };

async function giveTurns(): Promise<void> {
  while (waiting.length > 0) {
    await yieldToEventLoop();
    const end = performance.now() + LONGEST_WORK;
    while (waiting.length > 0 && performance.now() < end) {
      waiting[0]!();
      await new Promise((resolve) => setImmediate(resolve)); // it has worked by then
      waiting.shift();
    }
  }
}

function begin(): void {
  began = 0;
}

const NOW = Promise.resolve();
