/** A number of things that may be under way at once; who comes later waits in turn. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** @param most How many there are. */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does work when there is a slot for it. */
  async use<T>(
    work: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(begin);
        reject(signal!.reason);
      };
      const begin = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(begin);
    });
  }
}
