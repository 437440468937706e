import { perform, runAsync, runSync, type Steps } from "./steps.ts";

/** Reads that are under way at once where each has to be waited for. */
export const READS_IN_FLIGHT = 16;

/** Work of which at most a number of pieces is under way at once. */
export class ConcurrencyLimit {
  readonly #most: number;
  #count = 0;
  #begun = 0;
  /** Of the pieces that failed, the one that was begun first, whenever that was found out. */
  #failure: { readonly order: number; readonly error: unknown } | undefined;
  #ended: () => void = () => {};

  /** @param most How many pieces may be under way. */
  constructor(most: number) {
    this.#most = most;
  }

  /** True if a piece has failed, so that nothing more should be begun. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Takes a piece that has been begun. */
  add(piece: Promise<unknown>): void {
    this.#count++;
    const order = this.#begun++;
    const end = () => {
      this.#count--;
      this.#ended();
    };
    piece.then(end, (error) => {
      if (this.#failure === undefined || order < this.#failure.order) {
        this.#failure = { order, error };
      }
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
   * @throws What the piece has thrown that was begun first, of those that failed.
   */
  async end(): Promise<void> {
    while (this.#count > 0) await this.#end();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #end(): Promise<void> {
    return new Promise((resolve) => this.#ended = resolve);
  }
}

/**
 * Runs procedures one after the other, or several at once where they can wait. All that were begun have
 * ended when this does.
 *
 * @throws What the first of those that fail has thrown, in their order; of those behind it few are begun.
 */
export function* inParallel(
  procedures: readonly Steps<unknown>[],
): Steps<void> {
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
