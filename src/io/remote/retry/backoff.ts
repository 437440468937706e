import { setTimeout } from "node:timers/promises";

/** First and longest wait, in milliseconds. */
const FIRST = 100;
const LONGEST = 1500;
/** Longest wait while the store as a whole is away. */
const LONGEST_AWAY = 200;

/**
 * Back-off between attempts of one request. Waits grow and are random, so that requests that failed together do not
 * come back together. For a store that fails for all, all requests wait together ({@linkcode StoreBackoff}).
 */
export class Backoff {
  readonly #timeout: number;
  #deadline: number;
  #wait = FIRST;
  attempts = 0;

  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#deadline = performance.now() + timeout;
  }

  reset(): void {
    this.#deadline = performance.now() + this.#timeout;
    this.#wait = FIRST;
  }

  /**
   * Waits after an attempt. Returns whether to make another one.
   *
   * @param atLeast Wait that the server requests, in milliseconds.
   * @param isAway Whether the store as a whole is waited for afterwards.
   */
  async wait(
    atLeast: number | undefined,
    isAway: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    this.attempts++;
    const most = isAway ? LONGEST_AWAY : LONGEST;
    const own = Math.min(this.#wait, most) * (0.5 + Math.random() / 2);
    const wait = Math.max(atLeast ?? 0, own);
    this.#wait = Math.min(2 * this.#wait, LONGEST);
    const left = this.#deadline - performance.now();
    if (left <= 0 || (atLeast ?? 0) > left) return false;
    try {
      await setTimeout(Math.min(wait, left), undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return !signal.aborted;
  }
}
