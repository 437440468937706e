/** Limit of samples that end in a block, however small they are. */
export const ROWS = 4096;
/** Bytes of a sample's row: its start and checksum. */
const ROW = 8 + 4;

/**
 * Consecutive bytes of samples on their way to a file, with a row for each sample that ends among them. A sample may
 * begin in an earlier block, and end in a later one.
 */
export class SampleBlock {
  readonly memory: ArrayBufferLike;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #starts: Float64Array;
  readonly #checksums: Uint32Array;
  #used: number;
  #count: number;

  /** @param memory Memory of {@linkcode SampleBlock.sizeFor} bytes, or of another block with `used` and `count`. */
  constructor(memory: ArrayBufferLike, used = 0, count = 0) {
    const bytes = memory.byteLength - ROW * ROWS;
    this.memory = memory;
    this.#bytes = new Uint8Array(memory as ArrayBuffer, 0, bytes);
    this.#starts = new Float64Array(memory, bytes, ROWS);
    this.#checksums = new Uint32Array(memory, bytes + 8 * ROWS, ROWS);
    this.#used = used;
    this.#count = count;
  }

  /** Size of the memory for a block with a capacity of `bytes`, a multiple of 8. */
  static sizeFor(bytes: number): number {
    return bytes + ROW * ROWS;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#used);
  }

  get used(): number {
    return this.#used;
  }

  get isEmpty(): boolean {
    return this.#used === 0 && this.#count === 0;
  }

  /** Number of samples that end in it. */
  get count(): number {
    return this.#count;
  }

  /** Whether it has no room for more bytes, or for more samples. */
  get isFull(): boolean {
    return this.#used === this.#bytes.byteLength || this.#count === ROWS;
  }

  /** Returns up to `most` bytes of free memory, for {@linkcode SampleBlock.take} to add. */
  room(most: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#used, this.#used + most);
  }

  /** Adds bytes that have been written to its memory. */
  take(bytes: number): void {
    this.#used += bytes;
  }

  /** Ends a sample of `length` bytes in total after the current bytes. */
  end(length: number, checksum: number): void {
    this.#starts[this.#count] = this.#used - length;
    this.#checksums[this.#count++] = checksum;
  }

  /** Start of the n-th sample that ends in it, relative to the block; negative if it began before. */
  startOf(n: number): number {
    return this.#starts[n]!;
  }

  checksumOf(n: number): number {
    return this.#checksums[n]!;
  }

  clear(): void {
    this.#used = this.#count = 0;
  }
}
