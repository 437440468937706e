/** Bytes that are put one behind the other, into memory that grows. */
export class ByteOutput {
  protected memory = new Uint8Array(256);
  protected view = new DataView(this.memory.buffer);
  #length = 0;

  /** Number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** The bytes so far, until others are put. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.memory.subarray(0, this.#length);
  }

  /** Starts again, in the same memory, or goes back. */
  clear(length = 0): void {
    this.#length = length;
  }

  /** Gives the bytes so far in memory of their own, and starts again. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.written.slice();
    this.clear();
    return taken;
  }

  /** Puts bytes as they are. */
  raw(bytes: Uint8Array): void {
    const at = this.grow(bytes.byteLength);
    this.memory.set(bytes, at);
  }

  /** Puts one byte. */
  op(byte: number): void {
    const at = this.grow(1);
    this.memory[at] = byte;
  }

  /** Puts a byte and a big-endian double. */
  protected float64(head: number, value: number): void {
    const at = this.grow(9);
    this.memory[at] = head;
    this.view.setFloat64(at + 1, value);
  }

  /** Makes room for `count` bytes more and returns where they go. */
  protected grow(count: number): number {
    const at = this.#length;
    this.#length = at + count;
    if (this.#length > this.memory.byteLength) {
      const size = Math.max(this.#length, 2 * this.memory.byteLength);
      this.memory = grown(this.memory, new Uint8Array(size));
      this.view = new DataView(this.memory.buffer);
    }
    return at;
  }
}

/** The longer of two arrays, with what the other holds. */
export function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
