import { BLOCK, blockOf, type BlockStore } from "./block_store.ts";

/** Keeps the blocks that were used last in memory. */
export class MemoryStore implements BlockStore {
  readonly map = undefined;
  readonly #most: number;
  readonly #blocks = new Map<number, Uint8Array>(); // in order of use

  /** @param bytes How many are kept at most. */
  constructor(bytes: number) {
    this.#most = Math.max(1, Math.floor(bytes / BLOCK));
  }

  has(block: number): boolean {
    return this.#blocks.has(block);
  }

  read(into: Uint8Array, offset: number): number {
    let done = 0;
    while (done < into.length) {
      const number = blockOf(offset + done);
      const block = this.#blocks.get(number);
      if (block === undefined) break;
      this.#blocks.delete(number);
      this.#blocks.set(number, block);
      const start = offset + done - number * BLOCK;
      const part = block.subarray(start, start + into.length - done);
      if (part.length === 0) break;
      into.set(part, done);
      done += part.length;
    }
    return done;
  }

  readCached(into: Uint8Array, offset: number): number {
    return this.read(into, offset);
  }

  readLater(into: Uint8Array, offset: number): Promise<boolean> {
    return Promise.resolve(this.read(into, offset) === into.length);
  }

  keep(first: number, bytes: Uint8Array): number {
    for (let start = 0; start < bytes.length; start += BLOCK) {
      // Copied: a part would keep the whole of what was fetched.
      const block = bytes.slice(start, start + BLOCK);
      this.#blocks.set(first + start / BLOCK, block);
    }
    for (const [oldest] of this.#blocks) {
      if (this.#blocks.size <= this.#most) break;
      this.#blocks.delete(oldest);
    }
    return bytes.length;
  }

  forget(first: number, last: number): void {
    for (let block = first; block <= last; block++) this.#blocks.delete(block);
  }

  mark(): void {}

  close(): void {
    this.#blocks.clear();
  }
}
