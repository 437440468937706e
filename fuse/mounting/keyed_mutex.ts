/** Lets one action of each key run at a time, in the order in which they were asked for. */
export class KeyedMutex {
  /** The last action of each key that has not ended; never rejects. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs an action when all earlier ones of the same key have ended. */
  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(action);
    const ended = result.then(() => {}, () => {});
    this.#last.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
