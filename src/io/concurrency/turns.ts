import { abortable } from "./abortable.ts";
import { perform, runAsync, runSync, type Steps } from "./steps.ts";

/** Procedures by key, of which one at a time runs: it may make what others wait for. */
export class Turns<Key = number> {
  readonly #running = new Map<Key, Promise<void>>();

  /**
   * Returns what is made already, or runs a procedure that makes it once no other of its key runs.
   *
   * @param made Returns what is wanted, if another procedure has made it.
   */
  *run<T>(
    key: Key,
    made: () => T | undefined,
    procedure: () => Steps<T>,
  ): Steps<T> {
    return made() ?? (yield* perform<T>({
      sync: () => runSync(procedure()),
      async: (signal) => this.#inTurn(key, made, procedure, signal),
    }));
  }

  async #inTurn<T>(
    key: Key,
    made: () => T | undefined,
    procedure: () => Steps<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    for (let other; (other = this.#running.get(key)) !== undefined;) {
      await abortable(other, signal);
      const found = made();
      if (found !== undefined) return found;
    }
    const running = runAsync(procedure(), signal);
    const turn = running.then(() => {}, () => {}); // errors are reported to the caller
    this.#running.set(key, turn);
    try {
      return await running;
    } finally {
      this.#running.delete(key);
    }
  }
}
