import type { BatchRoom } from "./read_memory.ts";

/** Smaller requests get new memory, which costs little to clear. */
const SMALLEST = 8 << 10;
/** Larger requests are rare. */
const LARGEST = 1 << 20;
/** Most bytes held for reuse. */
const MOST_SPARE = 8 << 20;

/** Pool of memory to read into. Giving memory back is optional. */
export class SpareMemory implements BatchRoom {
  /** By size, a power of two. More than half of each is used. */
  readonly #spare = new Map<number, ArrayBuffer[]>();
  /** Buffers that this pool allocated; it accepts no others. */
  readonly #own = new WeakSet<ArrayBufferLike>();
  #bytes = 0;

  take(length: number): Uint8Array<ArrayBuffer> {
    if (length < SMALLEST || length > LARGEST) return new Uint8Array(length);
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
