/** Bytes that grow as they are written, numbers big-endian. */
export class ByteOutput {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  /** A head, which says what follows. */
  head(byte: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = byte;
  }

  uint8(head: number, value: number): void {
    const at = this.#grow(2);
    this.#bytes[at] = head;
    this.#bytes[at + 1] = value;
  }

  uint16(head: number, value: number): void {
    const at = this.#grow(3);
    this.#bytes[at] = head;
    this.#view.setUint16(at + 1, value);
  }

  uint32(head: number, value: number): void {
    const at = this.#grow(5);
    this.#bytes[at] = head;
    this.#view.setUint32(at + 1, value);
  }

  /** @param value Whole and at least -(2^63); below 0 it is written in two's complement. */
  uint64(head: number, value: number | bigint): void {
    const at = this.#grow(9);
    this.#bytes[at] = head;
    this.#view.setBigUint64(at + 1, BigInt(value));
  }

  float64(head: number, value: number): void {
    const at = this.#grow(9);
    this.#bytes[at] = head;
    this.#view.setFloat64(at + 1, value);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** What was written, in memory of its own. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#size);
  }

  #grow(size: number): number {
    const at = this.#size;
    this.#size = at + size;
    if (this.#size > this.#bytes.length) {
      const grown = new Uint8Array(
        Math.max(this.#size, 2 * this.#bytes.length),
      );
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}
