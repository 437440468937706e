import { setTimeout } from "node:timers/promises";

/** The first wait, in milliseconds, and the longest. */
const FIRST = 100;
const LONGEST = 20_000;

/** Waits between attempts: longer each time, by chance, so that many who failed together don't come back together. */
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
   * @param signal Ends the wait: no other attempt should be made then.
   * @returns Whether another attempt should be made.
   */
  async wait(
    atLeast: number | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    this.attempts++;
    const wait = Math.max(atLeast ?? 0, this.#wait * (0.5 + Math.random()));
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
