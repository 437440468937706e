/** At most so many bytes make a reference: a list of two 32-bit numbers, each with a byte before. */
const LONGEST_REFERENCE = 11;

/** At most so many bytes stand before the references. */
const LONGEST_HEAD = 5;

/**
 * Writes the references of a datapoint, as MessagePack in its shortest form: what Python's `msgpack`
 * writes. Its memory is used again for the next datapoint.
 */
export class ReferenceWriter {
  readonly #bytes: Uint8Array;
  readonly #keys: number;
  #at = 0;

  /** @param keys How many keys there are. */
  constructor(keys: number) {
    this.#keys = keys;
    this.#bytes = new Uint8Array(LONGEST_HEAD + keys * LONGEST_REFERENCE);
  }

  /** Starts the references of a datapoint; one for each key follows. */
  start(): void {
    this.#at = 0;
    if (this.#keys < 16) this.#bytes[this.#at++] = 0x90 | this.#keys;
    else if (this.#keys < 0x1_0000) this.#unsigned(0xdc, 2, this.#keys);
    else this.#unsigned(0xdd, 4, this.#keys);
  }

  /** Adds the reference of a key: one record. */
  addRecord(index: number): void {
    this.#integer(index);
  }

  /** Adds the reference of a key of a list type. */
  addList(first: number, count: number): void {
    if (count === 0) {
      this.#bytes[this.#at++] = 0x90;
      return;
    }
    this.#bytes[this.#at++] = 0x92;
    this.#integer(first);
    this.#integer(count);
  }

  /** The references, until the next are started. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** A bag has less than 2^32 records. */
  #integer(value: number): void {
    if (value < 0x80) this.#bytes[this.#at++] = value;
    else if (value < 0x100) this.#unsigned(0xcc, 1, value);
    else if (value < 0x1_0000) this.#unsigned(0xcd, 2, value);
    else this.#unsigned(0xce, 4, value);
  }

  #unsigned(head: number, bytes: number, value: number): void {
    this.#bytes[this.#at++] = head;
    for (let i = bytes - 1; i >= 0; i--) {
      this.#bytes[this.#at++] = value >>> 8 * i;
    }
  }
}
