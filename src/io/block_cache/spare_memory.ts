/**
 * Memory that decoders use again, because new memory takes up to half as long as decoding into it. One piece is kept; a
 * decoder that is interrupted by another has it for itself meanwhile.
 *
 * @example
 * ```ts
 * import { SpareMemory } from "./spare_memory.ts";
 * import assert from "node:assert/strict";
 *
 * const spare = new SpareMemory(1 << 20);
 * const memory = spare.take(1000);
 * spare.giveBack(memory);
 * assert.equal(spare.take(10), memory);
 * ```
 */
export class SpareMemory {
  readonly #most: number;
  #spare: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  /** @param most Largest memory that is kept, in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes memory of at least `length` bytes for exclusive use. Its content is arbitrary.
   *
   * @param room Bytes to allocate if there is none, so that slightly longer contents find room as well.
   */
  take(length: number, room = length): Uint8Array<ArrayBuffer> {
    const memory = this.#spare;
    this.#spare = new Uint8Array(0);
    if (memory.length >= length) return memory;
    return new Uint8Array(Math.max(length, Math.min(room, this.#most)));
  }

  /** Keeps memory that is no longer in use. */
  giveBack(memory: Uint8Array<ArrayBuffer>): void {
    if (memory.length <= this.#most) this.#spare = memory;
  }
}
