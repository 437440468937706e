import type { BatchRoom } from "./read_memory.ts";

/** Less is new memory each time: to have that cleared costs little. */
const SMALLEST = 8 << 10;
/** More is seldom. */
const LARGEST = 1 << 20;
/** So many bytes are kept at most. */
const MOST_SPARE = 8 << 20;

/** Memory that is read into again once it is given back; nobody has to. */
export class SpareMemory implements BatchRoom {
  /** By size, a power of two: what is read takes more than half of it. */
  readonly #spare = new Map<number, ArrayBuffer[]>();
  /** All that may come back, and not somebody else's. */
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

  /** Takes back, once, what nobody looks at any more. */
  giveBack({ buffer }: Uint8Array): void {
    const size = buffer.byteLength;
    if (!this.#own.has(buffer) || this.#bytes + size > MOST_SPARE) return;
    const spare = this.#spare.get(size) ?? [];
    spare.push(buffer as ArrayBuffer);
    this.#spare.set(size, spare);
    this.#bytes += size;
  }
}
