/** So many samples end in a block at most, however small they are. */
export const ROWS = 4096;
/** What is kept of each: where it starts, and its checksum. */
const ROW = 8 + 4;

/**
 * Bytes of samples one after the other, on their way to a file, and the rows of those that end among them. A sample
 * may begin in the block before, and end in a later one.
 */
export class SampleBlock {
  /** Where all of it lies but how much it holds. */
  readonly memory: ArrayBufferLike;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #starts: Float64Array;
  readonly #checksums: Uint32Array;
  #used: number;
  #count: number;

  /** @param memory That of a block with so many bytes and samples, or of {@linkcode SampleBlock.sizeFor} bytes. */
  constructor(memory: ArrayBufferLike, used = 0, count = 0) {
    const bytes = memory.byteLength - ROW * ROWS;
    this.memory = memory;
    this.#bytes = new Uint8Array(memory as ArrayBuffer, 0, bytes);
    this.#starts = new Float64Array(memory, bytes, ROWS);
    this.#checksums = new Uint32Array(memory, bytes + 8 * ROWS, ROWS);
    this.#used = used;
    this.#count = count;
  }

  /** Bytes of memory that one takes which holds so many, a multiple of 8. */
  static sizeFor(bytes: number): number {
    return bytes + ROW * ROWS;
  }

  /** What it holds. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Number of bytes that it holds. */
  get used(): number {
    return this.#used;
  }

  /** Whether it holds nothing, and nothing ends in it. */
  get isEmpty(): boolean {
    return this.#used === 0 && this.#count === 0;
  }

  /** How many samples end in it. */
  get count(): number {
    return this.#count;
  }

  /** Whether no sample can be gone on with. */
  get isFull(): boolean {
    return this.#used === this.#bytes.byteLength || this.#count === ROWS;
  }

  /** The memory that follows what it holds, at most so much of it; {@linkcode SampleBlock.take} has it hold that. */
  room(most: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#used, this.#used + most);
  }

  /** Holds so many more of the bytes that are in its memory. */
  take(bytes: number): void {
    this.#used += bytes;
  }

  /**
   * Ends a sample after what it holds.
   *
   * @param length All of the sample's, in bytes.
   */
  end(length: number, checksum: number): void {
    this.#starts[this.#count] = this.#used - length;
    this.#checksums[this.#count++] = checksum;
  }

  /** Where the sample starts that ends in it as the n-th, from its first byte on: below 0 if it began before. */
  startOf(n: number): number {
    return this.#starts[n]!;
  }

  /** The checksum of that sample. */
  checksumOf(n: number): number {
    return this.#checksums[n]!;
  }

  /** Holds nothing any more. */
  clear(): void {
    this.#used = this.#count = 0;
  }
}
