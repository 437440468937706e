/** A number of things that all threads have together. */
export class SharedCount {
  readonly #count: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#count = new Int32Array(memory, offset, 1);
  }

  /**
   * Counts one more.
   *
   * @param most How many there may be.
   * @returns Whether there are not too many: only then it counts, until {@linkcode SharedCount.end}.
   */
  begin(most: number): boolean {
    const isIn = Atomics.add(this.#count, 0, 1) < most;
    if (!isIn) this.end();
    return isIn;
  }

  end(): void {
    Atomics.sub(this.#count, 0, 1);
  }
}

/** What the threads of a server count together, so that its limits are those of all of them. */
export class SharedCounts {
  /** By which another thread makes one that counts along. */
  readonly memory: SharedArrayBuffer;
  readonly #checks: Int32Array<SharedArrayBuffer>;
  /** Answers that are being made as a whole. */
  readonly whole: SharedCount;
  /** Answers that are being made and sent piece by piece. */
  readonly streams: SharedCount;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(12)) {
    this.memory = memory;
    this.whole = new SharedCount(memory, 0);
    this.#checks = new Int32Array(memory, 4, 1);
    this.streams = new SharedCount(memory, 8);
  }

  /** Begins the only check; tells whether there was none. */
  beginCheck(): boolean {
    return Atomics.compareExchange(this.#checks, 0, 0, 1) === 0;
  }

  endCheck(): void {
    Atomics.store(this.#checks, 0, 0);
  }
}
