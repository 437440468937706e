/** The memory of batches that the caller has given back, which goes to the threads that load next. */
export class FreeMemory {
  readonly #most: number;
  readonly #free: ArrayBuffer[][] = [];

  /** @param most How many batches' memory is kept; more is left to be collected. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes the memory of a batch. */
  give(buffers: ArrayBuffer[]): void {
    if (buffers.length === 0) return;
    this.#free.push(buffers);
    if (this.#free.length > this.#most) this.#free.shift();
  }

  /** The memory of a batch, or none. */
  take(): ArrayBuffer[] {
    return this.#free.shift() ?? [];
  }

  /** Leaves all of it to be collected. */
  clear(): void {
    this.#free.length = 0;
  }
}
