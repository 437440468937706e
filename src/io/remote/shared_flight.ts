import { setTimeout } from "node:timers/promises";
import { blockOf, type BlockStore } from "./cache/block_store.ts";
import type { Claim, RangeClaims } from "./cache/range_claims.ts";
import type { Flight } from "./flight.ts";

/** Milliseconds between looks at what another program has kept: at first, and at most. */
export const FIRST_LOOK = 4;
export const LONGEST_LOOK = 40;
/** How long a program is waited for that keeps nothing more, in milliseconds, and as part of a request's time. */
const STUCK = 5000;
const STUCK_PART = 1 / 8;
/** Bytes that are taken from the cache at a time. */
const PIECE = 1 << 17;

/** Returns how long a program that keeps nothing more is waited for, by the timeout of a request; in milliseconds. */
export function stuckAfter(timeout = Infinity): number {
  return Math.min(STUCK, timeout * STUCK_PART);
}

/**
 * Waits until nobody else fetches a range, and meanwhile has those who wait for it read what others keep.
 *
 * @returns What keeps others from the rest of the range; `undefined` where nothing is left, or nobody is kept from it.
 */
export async function claimFlight(
  flight: Flight,
  claims: RangeClaims,
  store: BlockStore,
  { signal, timeout }: {
    readonly signal: AbortSignal;
    /** That of a request, in milliseconds. */
    readonly timeout: number;
  },
): Promise<Claim | undefined> {
  const last = blockOf(flight.end - 1);
  const most = stuckAfter(timeout);
  let next = flight.next;
  let since = performance.now();
  for (let wait = FIRST_LOOK;; wait = Math.min(1.5 * wait, LONGEST_LOOK)) {
    const claim = claims.tryTake(blockOf(next), last);
    takeKept(flight, store); // also what was kept just before
    const isStuck = performance.now() - since > most;
    if (flight.next === flight.end || claim === undefined && isStuck) {
      claim?.[Symbol.dispose]();
      return undefined;
    }
    if (claim !== undefined) return claim;
    if (flight.next > next) since = performance.now();
    next = flight.next;
    await setTimeout(wait, undefined, { signal });
  }
}

/** Takes what the store has of a range, up to the first block that is not there. */
export function takeKept(flight: Flight, store: BlockStore): void {
  flight.dropBegun();
  store.look(blockOf(flight.next), blockOf(flight.end - 1));
  while (flight.next < flight.end && store.has(blockOf(flight.next))) {
    const length = Math.min(PIECE, flight.end - flight.next);
    const piece = new Uint8Array(length);
    const got = store.read(piece, flight.next);
    if (got === 0) return; // it has turned out to be damaged
    flight.take(piece.subarray(0, got));
  }
}
