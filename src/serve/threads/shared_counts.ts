export class SharedCount {
  readonly #count: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#count = new Int32Array(memory, offset, 1);
  }

  /** Increments the counter if it is below `most`; returns whether it did. {@linkcode SharedCount.end} undoes it. */
  begin(most: number): boolean {
    const isIn = Atomics.add(this.#count, 0, 1) < most;
    if (!isIn) this.end();
    return isIn;
  }

  end(): void {
    Atomics.sub(this.#count, 0, 1);
  }
}

/** Counters shared by a server's threads, so that limits apply to all of them together. */
export class SharedCounts {
  /** Passed to other threads to share the counters. */
  readonly memory: SharedArrayBuffer;
  readonly #checks: Int32Array<SharedArrayBuffer>;
  /** Whole responses in progress. */
  readonly whole: SharedCount;
  /** Streamed responses in progress. */
  readonly streams: SharedCount;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(12)) {
    this.memory = memory;
    this.whole = new SharedCount(memory, 0);
    this.#checks = new Int32Array(memory, 4, 1);
    this.streams = new SharedCount(memory, 8);
  }

  /** Starts a check. Returns false if one is running. */
  beginCheck(): boolean {
    return Atomics.compareExchange(this.#checks, 0, 0, 1) === 0;
  }

  endCheck(): void {
    Atomics.store(this.#checks, 0, 0);
  }
}
