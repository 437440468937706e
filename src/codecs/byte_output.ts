/** Growable byte buffer. */
export class ByteOutput {
  protected memory = new Uint8Array(256);
  protected view = new DataView(this.memory.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** View of the bytes so far, valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.memory.subarray(0, this.#length);
  }

  /** Truncates to `length` bytes, and keeps the memory. */
  clear(length = 0): void {
    this.#length = length;
  }

  /** Returns a copy of the bytes so far, and clears. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.written.slice();
    this.clear();
    return taken;
  }

  raw(bytes: Uint8Array): void {
    const at = this.grow(bytes.byteLength);
    this.memory.set(bytes, at);
  }

  op(byte: number): void {
    const at = this.grow(1);
    this.memory[at] = byte;
  }

  /** Appends a byte and a big-endian double. */
  protected float64(head: number, value: number): void {
    const at = this.grow(9);
    this.memory[at] = head;
    this.view.setFloat64(at + 1, value);
  }

  /** Reserves `count` bytes and returns their offset. */
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

/** Copies `from` to the start of `to`, and returns `to`. */
export function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
