import { setTimeout } from "node:timers/promises";
import { blockOf, type BlockStore } from "./cache/block_store.ts";
import type { Claim, RangeClaims } from "./cache/range_claims.ts";
import type { RangeInFlight } from "./range_in_flight.ts";

/** Polling interval in milliseconds for what another program stores: at first, and at most. */
export const FIRST_LOOK = 4;
export const LONGEST_LOOK = 40;
/** How long to wait for a program that stores nothing more: milliseconds, and a fraction of the request timeout. */
const STUCK = 5000;
const STUCK_PART = 1 / 8;
const PIECE = 1 << 17;

export function stuckAfter(timeout = Infinity): number {
  return Math.min(STUCK, timeout * STUCK_PART);
}

/**
 * Waits until no other program fetches a range, and meanwhile passes on to its waiters what others store. Returns a
 * claim on the rest of the range; `undefined` if nothing is left, or another program is stuck.
 */
export async function claimFlight(
  flight: RangeInFlight,
  claims: RangeClaims,
  store: BlockStore,
  { signal, timeout }: {
    readonly signal: AbortSignal;
    readonly timeout: number;
  },
): Promise<Claim | undefined> {
  const last = blockOf(flight.end - 1);
  const most = stuckAfter(timeout);
  let next = flight.next;
  let since = performance.now();
  for (let wait = FIRST_LOOK;; wait = Math.min(1.5 * wait, LONGEST_LOOK)) {
    const claim = claims.tryTake(blockOf(next), last);
    takeKept(flight, store); // after the claim, to also find what was stored just before
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

/** Reads a range from the store, up to the first missing block. */
export function takeKept(flight: RangeInFlight, store: BlockStore): void {
  flight.dropBegun();
  store.look(blockOf(flight.next), blockOf(flight.end - 1));
  while (flight.next < flight.end && store.has(blockOf(flight.next))) {
    const length = Math.min(PIECE, flight.end - flight.next);
    const piece = new Uint8Array(length);
    const got = store.read(piece, flight.next);
    if (got === 0) return; // the block turned out to be damaged
    flight.take(piece.subarray(0, got));
  }
}
