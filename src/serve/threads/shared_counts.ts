/** What the threads of a server count together, so that its limits are those of all of them. */
export class SharedCounts {
  /** By which another thread makes one that counts along. */
  readonly memory: SharedArrayBuffer;
  readonly #requests: Int32Array<SharedArrayBuffer>;
  readonly #checks: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.memory = memory;
    this.#requests = new Int32Array(memory, 0, 1);
    this.#checks = new Int32Array(memory, 4, 1);
  }

  /**
   * Counts a request that is being answered.
   *
   * @param most How many there may be.
   * @returns Whether there are not too many: only then it counts, until {@linkcode SharedCounts.endRequest}.
   */
  beginRequest(most: number): boolean {
    const isIn = Atomics.add(this.#requests, 0, 1) < most;
    if (!isIn) this.endRequest();
    return isIn;
  }

  endRequest(): void {
    Atomics.sub(this.#requests, 0, 1);
  }

  /** Begins the only check; tells whether there was none. */
  beginCheck(): boolean {
    return Atomics.compareExchange(this.#checks, 0, 0, 1) === 0;
  }

  endCheck(): void {
    Atomics.store(this.#checks, 0, 0);
  }
}
