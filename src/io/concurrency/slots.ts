interface Turn {
  readonly bytes: number;
  readonly begin: () => void;
}

/** Semaphore that limits the number of operations in flight and their total bytes, first come first served. */
export class Slots {
  #free: number;
  readonly #mostBytes: number;
  /** Bytes in flight. */
  #bytes = 0;
  readonly #waiting = new Set<Turn>();

  /**
   * @param most Number of slots.
   * @param mostBytes Most bytes of all operations together; a single one may exceed it.
   */
  constructor(most: number, mostBytes: number) {
    this.#free = most;
    this.#mostBytes = mostBytes;
  }

  /** Runs an operation that moves `bytes` bytes when there is a slot for it. */
  async use<T>(
    work: () => Promise<T>,
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) this.#take(bytes);
    else await this.#turn(bytes, signal);
    try {
      return await work();
    } finally {
      this.#free++;
      this.#bytes -= bytes;
      this.#beginNext();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#free > 0 &&
      (this.#bytes === 0 || this.#bytes + bytes <= this.#mostBytes);
  }

  #take(bytes: number): void {
    this.#free--;
    this.#bytes += bytes;
  }

  #beginNext(): void {
    for (const turn of this.#waiting) {
      if (!this.#hasRoom(turn.bytes)) return;
      this.#waiting.delete(turn);
      this.#take(turn.bytes);
      turn.begin();
    }
  }

  #turn(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(turn);
        reject(signal!.reason);
        this.#beginNext();
      };
      const begin = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const turn = { bytes, begin };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(turn);
    });
  }
}
