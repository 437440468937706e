import { WriteError } from "../../base/errors.ts";

/** Queue that runs tasks one at a time, in the order of the requests. */
export class SerialQueue {
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #failures = 0;

  constructor(what: string) {
    this.#what = what;
  }

  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** Starts `work` now, because the queue is idle. Later tasks run after it. */
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

  /** Queues `work`. It is not run if an earlier task fails meanwhile, which the caller could not know. */
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
        `Cannot write ${this.#what}: an earlier write failed`,
        { path: this.#what },
      );
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
