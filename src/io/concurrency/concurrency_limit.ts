import { perform, runAsync, runSync, type Steps } from "./steps.ts";

/** Reads that are under way at once where each has to be waited for. */
export const READS_IN_FLIGHT = 16;

/** Work of which at most a number of pieces is under way at once. */
export class ConcurrencyLimit {
  readonly #most: number;
  #count = 0;
  #failures: unknown[] = [];
  #ended: () => void = () => {};

  /** @param most How many pieces may be under way. */
  constructor(most: number) {
    this.#most = most;
  }

  /** True if a piece has failed, so that nothing more should be begun. */
  get failed(): boolean {
    return this.#failures.length > 0;
  }

  /** Takes a piece that has been begun. */
  add(piece: Promise<unknown>): void {
    this.#count++;
    const end = () => {
      this.#count--;
      this.#ended();
    };
    piece.then(end, (error) => {
      this.#failures.push(error);
      end();
    });
  }

  /** Waits until one more may be begun. */
  async room(): Promise<void> {
    while (this.#count >= this.#most) await this.#end();
  }

  /**
   * Waits until nothing is under way.
   *
   * @throws What the first piece that failed has thrown.
   */
  async end(): Promise<void> {
    while (this.#count > 0) await this.#end();
    if (this.failed) throw this.#failures[0];
  }

  #end(): Promise<void> {
    return new Promise((resolve) => this.#ended = resolve);
  }
}

/**
 * Runs procedures one after the other, or several at once where they can wait. All that were begun have
 * ended when this does.
 *
 * @throws What the first of them that failed has thrown; those behind it are not begun.
 */
export function* inParallel(procedures: readonly Steps<void>[]): Steps<void> {
  yield* perform({
    sync() {
      for (const steps of procedures) runSync(steps);
    },
    async async(signal) {
      const flight = new ConcurrencyLimit(READS_IN_FLIGHT);
      for (const steps of procedures) {
        await flight.room();
        if (flight.failed) break;
        flight.add(runAsync(steps, signal));
      }
      await flight.end();
    },
  });
}
