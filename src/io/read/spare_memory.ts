import type { BatchRoom } from "./read_memory.ts";

/** Most bytes held for reuse. */
const MOST_SPARE = 8 << 20;

/** Pool of memory to read or decode into: new memory takes time to clear and to collect. Giving it back is optional. */
export class SpareMemory implements BatchRoom {
  readonly #smallest: number;
  readonly #largest: number;
  /** By size, a power of two. More than half of each is used. */
  readonly #spare = new Map<number, ArrayBuffer[]>();
  /** Buffers that this pool allocated; it accepts no others. */
  readonly #own = new WeakSet<ArrayBufferLike>();
  #bytes = 0;

  /**
   * @param smallest Smaller requests get new memory, which costs little to clear.
   * @param largest Larger requests, which are rare, get new memory.
   */
  constructor(smallest = 8 << 10, largest = 1 << 20) {
    this.#smallest = smallest;
    this.#largest = largest;
  }

  /** Takes memory for exclusive use. Its content is arbitrary. */
  take(length: number): Uint8Array<ArrayBuffer> {
    if (length < this.#smallest || length > this.#largest) {
      return new Uint8Array(length);
    }
    const size = 2 ** Math.ceil(Math.log2(length));
    let memory = this.#spare.get(size)?.pop();
    if (memory === undefined) {
      memory = new ArrayBuffer(size);
      this.#own.add(memory);
    } else this.#bytes -= size;
    return new Uint8Array(memory, 0, length);
  }

  /** Takes memory back, once. Nobody may use it any more. */
  giveBack({ buffer }: Uint8Array): void {
    const size = buffer.byteLength;
    if (!this.#own.has(buffer) || this.#bytes + size > MOST_SPARE) return;
    const spare = this.#spare.get(size) ?? [];
    spare.push(buffer as ArrayBuffer);
    this.#spare.set(size, spare);
    this.#bytes += size;
  }
}
