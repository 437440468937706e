import { setTimeout } from "node:timers/promises";
import { abortable } from "../concurrency/abortable.ts";
import { type Claim, RangeClaims } from "../remote/cache/range_claims.ts";
import type { RemoteSource } from "../remote/remote_source.ts";
import {
  FIRST_LOOK,
  LONGEST_LOOK,
  stuckAfter,
} from "../remote/shared_flight.ts";
import type { CacheLocation } from "./cache_location.ts";

/** Makers that a program waits for. One may end without an index, for instance by a signal. */
const MOST_MAKERS = 2;
/** Shortest limit for waiting, in milliseconds, even if fetching takes less: programs take about as long to start. */
const LEAST_WAIT = 1000;

/**
 * Claim on making the index of a remote source. Of all programs that share a cache, one at a time holds it. Making it
 * in parallel, each would decide by its own measurements what to fetch, and together request several times as much.
 */
export class IndexClaim implements Disposable {
  readonly #source: RemoteSource;
  readonly #claims: RangeClaims;
  #claim: Claim | undefined;

  constructor(source: RemoteSource, { root, name, state }: CacheLocation) {
    this.#source = source;
    this.#claims = new RangeClaims(root, `index\n${name}\n${state}`);
  }

  /**
   * Waits while another program makes the index: as long as it keeps storing blocks, and at most as long as fetching
   * the source would take. Returns the index; `undefined` if the caller must make it. Others wait for that until the
   * claim is disposed.
   */
  async take<Index>(
    read: () => Index | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Index | undefined> {
    const { fetchTime, fetcher, origin } = this.#source;
    const most = Math.max(LEAST_WAIT, fetchTime);
    const stuck = Math.min(most, stuckAfter(origin.options.timeout));
    const begun = performance.now();
    let [since, kept] = [begun, fetcher.lastKept()];
    let wait = FIRST_LOOK;
    for (let maker = 0; maker < MOST_MAKERS;) {
      this.#claim = this.#claims.tryTake(maker, maker);
      const index = read(); // after the claim, to also find what was cached just before
      if (index !== undefined) return index;
      const isFirst = wait === FIRST_LOOK;
      if (this.#claim !== undefined && isFirst) return undefined;
      const now = performance.now();
      if (now - begun > most) return undefined;
      const last = fetcher.lastKept();
      if (last !== kept) [since, kept] = [now, last];
      if (this.#claim !== undefined || now - since > stuck) {
        // The maker ended without an index, or makes no progress. The next one has a claim of its own.
        this.#release();
        maker++;
        [since, wait] = [now, FIRST_LOOK];
        continue;
      }
      await abortable(setTimeout(wait), signal);
      wait = Math.min(1.5 * wait, LONGEST_LOOK);
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#release();
    this.#claims.close();
  }

  #release(): void {
    this.#claim?.[Symbol.dispose]();
    this.#claim = undefined;
  }
}
