import { perform, runAsync, runSync, type Steps } from "./steps.ts";

/** Most reads in flight if each must be waited for. */
export const READS_IN_FLIGHT = 16;

/** Limits how many tasks are in flight at once. */
export class ConcurrencyLimit {
  readonly #most: number;
  #count = 0;
  #begun = 0;
  /** Failure of the task that was started first, in whatever order tasks failed. */
  #failure: { readonly order: number; readonly error: unknown } | undefined;
  #ended: () => void = () => {};

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a task has failed, so that no more should be started. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

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

  /** Waits until another task may be started. */
  async room(): Promise<void> {
    while (this.#count >= this.#most) await this.#end();
  }

  /** Waits until all tasks have ended. Throws the failure of the failed task that was started first. */
  async end(): Promise<void> {
    while (this.#count > 0) await this.#end();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #end(): Promise<void> {
    return new Promise((resolve) => this.#ended = resolve);
  }
}

/**
 * Runs procedures one after the other, or several at once if they can wait. All that were started have ended when this
 * returns.
 *
 * @throws The first failure, in the order of the procedures. Few of those after it are started.
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
