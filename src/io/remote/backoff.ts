import { setTimeout } from "node:timers/promises";

/** The first wait, in milliseconds, and the longest. */
const FIRST = 100;
const LONGEST = 1500;
/** The longest where the store as a whole is waited for. */
const LONGEST_AWAY = 200;

/**
 * Waits between attempts of one request: longer each time, by chance, so that many that failed together do not come back
 * together. A store that fails for all is waited for by all together ({@linkcode StoreBackoff}).
 */
export class Backoff {
  readonly #timeout: number;
  #deadline: number;
  #wait = FIRST;
  /** How many attempts have failed. */
  attempts = 0;

  /** @param timeout How long to go on, in milliseconds. */
  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#deadline = performance.now() + timeout;
  }

  /** Something came, so that it is worth to go on as long again. */
  reset(): void {
    this.#deadline = performance.now() + this.#timeout;
    this.#wait = FIRST;
  }

  /**
   * Waits after an attempt.
   *
   * @param atLeast What the server asks for, in milliseconds.
   * @param isAway Whether the store is waited for afterwards.
   * @param signal Ends the wait: no other attempt should be made then.
   * @returns Whether another attempt should be made.
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
