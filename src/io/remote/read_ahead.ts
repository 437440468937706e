import { BLOCK } from "./cache/block_store.ts";

/** Bytes that are fetched ahead of a reader at first, and at most. */
const FIRST_AHEAD = 1 << 19;
const MOST_AHEAD = 32 << 20;
/** Steps from front to back after which a reader is taken for one that goes on so. */
const GOES_ON = 2;
/** Readers whose places are remembered. */
const MOST_READERS = 16;

/** A range of bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Tells what readers who go from front to back will want next: further ahead the longer they go on. It hears of each
 * read, and so makes no objects but for these.
 */
export class ReadAhead {
  /** Of each reader, where it is; and up to where was fetched ahead of it. */
  readonly #at = new Float64Array(MOST_READERS).fill(-Infinity);
  readonly #ahead = new Float64Array(MOST_READERS).fill(-Infinity);
  readonly #window = new Float64Array(MOST_READERS);
  /** How often it has gone on. */
  readonly #steps = new Float64Array(MOST_READERS);
  /** When it was heard of. */
  readonly #heard = new Float64Array(MOST_READERS);
  #time = 0;

  /**
   * Hears what was read.
   *
   * @returns What should be fetched by now, beside what was said before; it may lie behind the object's end.
   */
  follow(start: number, end: number): Span | undefined {
    const reader = this.#readerAt(start);
    const goesOn = start <= this.#ahead[reader]! + BLOCK;
    this.#heard[reader] = ++this.#time;
    this.#at[reader] = end;
    if (!goesOn) {
      this.#ahead[reader] = end;
      this.#window[reader] = 0;
      this.#steps[reader] = 0;
      return undefined;
    }
    const ahead = Math.max(this.#ahead[reader]!, end);
    this.#ahead[reader] = ahead;
    // Once may be chance, where samples are read in any order.
    if (++this.#steps[reader]! < GOES_ON) return undefined;
    const window = Math.min(
      Math.max(FIRST_AHEAD, 2 * this.#window[reader]!),
      MOST_AHEAD,
    );
    this.#window[reader] = window;
    const until = end + window;
    // A request for each block would be many.
    if (until - ahead < window / 2) return undefined;
    this.#ahead[reader] = until;
    return { start: ahead, end: until };
  }

  /** The reader that goes on there, or the one that was not heard of for longest. */
  #readerAt(start: number): number {
    let oldest = 0;
    for (let i = 0; i < MOST_READERS; i++) {
      const isThere = start >= this.#at[i]! &&
        // The rest of what begins in the block before may have been there.
        start <= this.#ahead[i]! + BLOCK;
      if (isThere) return i;
      if (this.#heard[i]! < this.#heard[oldest]!) oldest = i;
    }
    this.#at[oldest] = Infinity; // it is another one's now
    this.#ahead[oldest] = -Infinity;
    return oldest;
  }
}
