/** Memory to read into. */
export interface ReadMemory {
  /** Its first bytes; what was taken before is free to be read into. */
  take(length: number): Uint8Array<ArrayBuffer>;
  /** The bytes behind those taken last. */
  takeMore(length: number): Uint8Array<ArrayBuffer>;
}

/**
 * Memory that is read into again and again: what a loop over much need not have cleared, and
 * collected, for each read. It grows as it must.
 */
export class GrowingMemory implements ReadMemory {
  #bytes = new Uint8Array(0);
  #taken = 0;

  /** How many bytes it has. */
  get size(): number {
    return this.#bytes.length;
  }

  /**
   * Its first bytes, whatever they hold: what was taken before is free to be read into.
   *
   * @param length How many.
   */
  take(length: number): Uint8Array<ArrayBuffer> {
    this.#taken = 0;
    return this.takeMore(length);
  }

  /**
   * The bytes behind those taken last, from the next multiple of 8 on, so that any number may lie
   * there.
   *
   * @param length How many.
   */
  takeMore(length: number): Uint8Array<ArrayBuffer> {
    const start = Math.ceil(this.#taken / 8) * 8;
    const end = start + length;
    // Its buffer may have been transferred to another thread.
    if (end > this.#bytes.length || this.#bytes.buffer.detached) {
      this.#bytes = new Uint8Array(Math.ceil(end * 1.25));
    }
    this.#taken = end;
    return this.#bytes.subarray(start, end);
  }
}
