import { WriteError } from "../../base/errors.ts";

/** Work that is done in the order in which it was asked for, one piece at a time. */
export class SerialQueue {
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #failures = 0;

  /** @param what What is worked on, for errors. */
  constructor(what: string) {
    this.#what = what;
  }

  /** True if anything is under way or waits. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** Begins `work` now, since nothing is under way; what is asked for meanwhile comes after it. */
  async begin<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting++;
    try {
      return await work();
    } catch (error) {
      this.#failures++;
      throw error;
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  /**
   * Does `work` when all that was asked for before is done. Where some of that fails, `work` is
   * not done at all: whoever did not wait for it did not know.
   */
  take<T>(work: () => Promise<T>): Promise<T> {
    const failures = this.#failures;
    this.#waiting++;
    const turn = this.#last.then(async () => {
      try {
        if (failures === this.#failures) return await work();
      } catch (error) {
        this.#failures++;
        throw error;
      } finally {
        this.#waiting--;
      }
      throw new WriteError(
        "earlier-write-failed",
        `Cannot write ${this.#what}: a write that was asked for before has failed`,
        { path: this.#what },
      );
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
