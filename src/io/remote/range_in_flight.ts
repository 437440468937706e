import { CACHE_BLOCK } from "./cache/block_store.ts";
import type { WaitCount } from "./retry/wait_count.ts";

export interface Blocks {
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A range in flight. Passes bytes to waiters as they arrive, and buffers only the beginning of an incomplete block. */
export class RangeInFlight {
  readonly start: number;
  readonly end: number;
  /** Start of the first incomplete block. */
  #next: number;
  readonly #begun = new Uint8Array(CACHE_BLOCK);
  #begunLength = 0;
  readonly #waiting = new Set<WaitCount>();

  /** @param start A block boundary. */
  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
    this.#next = start;
  }

  get next(): number {
    return this.#next;
  }

  /** Whether a byte is still to come, or lies in the incomplete block. */
  covers(offset: number): boolean {
    return offset >= this.#next && offset < this.end;
  }

  /** Received bytes of the incomplete block. The next piece must have that much room in front of it. */
  get front(): number {
    return this.#begunLength;
  }

  /** Drops the beginning of the incomplete block, which comes from elsewhere. */
  dropBegun(): void {
    this.#begunLength = 0;
  }

  /** Passes a waiter the beginning of the incomplete block, and what arrives from now on. */
  add(waiting: WaitCount): void {
    if (this.#waiting.has(waiting)) return; // several parts of its range are in this flight
    waiting.take(this.#begun.subarray(0, this.#begunLength), this.#next);
    if (this.#hasFor(waiting)) return;
    waiting.hold();
    this.#waiting.add(waiting);
  }

  /**
   * Takes the next bytes, which have room for the incomplete block in front. Returns the blocks that are whole now, in
   * the same memory.
   */
  take(piece: Uint8Array<ArrayBuffer>): Blocks {
    const { buffer, byteOffset, length } = piece;
    const front = this.#begunLength;
    const start = this.#next;
    const bytes = new Uint8Array(buffer, byteOffset - front, front + length);
    bytes.set(this.#begun.subarray(0, front));
    const isLast = start + bytes.length === this.end;
    const whole = isLast
      ? bytes.length
      : bytes.length - bytes.length % CACHE_BLOCK;
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

  fail(reason: unknown): void {
    for (const waiting of this.#waiting) waiting.fail(reason);
  }

  #hasFor(waiting: WaitCount): boolean {
    return this.#next + this.#begunLength >= Math.min(waiting.end, this.end);
  }
}
