import { BLOCK } from "./cache/block_store.ts";
import type { Waiting } from "./waiting.ts";

/** Whole blocks, one behind the other. */
export interface Blocks {
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * A range that is on its way: whoever waits for some of it has that as soon as it is there. It keeps nothing but the
 * begin of a block whose rest has not come.
 */
export class Flight {
  readonly start: number;
  readonly end: number;
  /** Where the first block begins that has not come as a whole. */
  #next: number;
  readonly #begun = new Uint8Array(BLOCK);
  #begunLength = 0;
  readonly #waiting = new Set<Waiting>();

  /**
   * Nothing has come yet.
   *
   * @param start Where a block begins.
   * @param end Behind its last byte.
   */
  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
    this.#next = start;
  }

  /** Where the first block begins that has not come as a whole. */
  get next(): number {
    return this.#next;
  }

  /** Whether a byte will come, or has with a part of its block. */
  covers(offset: number): boolean {
    return offset >= this.#next && offset < this.end;
  }

  /** How much of a block has come that is not whole: in front of the next piece there has to be room for it. */
  get front(): number {
    return this.#begunLength;
  }

  /** Drops what has come of a block that is not whole: it comes from elsewhere. */
  dropBegun(): void {
    this.#begunLength = 0;
  }

  /** Gives someone what has come of the block that is not whole, and what comes. */
  add(waiting: Waiting): void {
    if (this.#waiting.has(waiting)) return; // of which several parts are of it
    waiting.take(this.#begun.subarray(0, this.#begunLength), this.#next);
    if (this.#hasFor(waiting)) return;
    waiting.hold();
    this.#waiting.add(waiting);
  }

  /**
   * Takes the next bytes.
   *
   * @param piece In front of which is room.
   * @returns The blocks that are whole by now, in its memory.
   */
  take(piece: Uint8Array<ArrayBuffer>): Blocks {
    const { buffer, byteOffset, length } = piece;
    const front = this.#begunLength;
    const start = this.#next;
    const bytes = new Uint8Array(buffer, byteOffset - front, front + length);
    bytes.set(this.#begun.subarray(0, front));
    const isLast = start + bytes.length === this.end;
    const whole = isLast ? bytes.length : bytes.length - bytes.length % BLOCK;
    this.#begunLength = bytes.length - whole;
    this.#begun.set(bytes.subarray(whole));
    this.#next += whole;
    for (const waiting of this.#waiting) {
      waiting.take(piece, start + front);
      if (!this.#hasFor(waiting)) continue;
      this.#waiting.delete(waiting);
      waiting.release();
    }
    return { start, bytes: bytes.subarray(0, whole) };
  }

  /** It will not come. */
  fail(reason: unknown): void {
    for (const waiting of this.#waiting) waiting.fail(reason);
  }

  #hasFor(waiting: Waiting): boolean {
    return this.#next + this.#begunLength >= Math.min(waiting.end, this.end);
  }
}
