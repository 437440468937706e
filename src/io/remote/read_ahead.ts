import { CACHE_BLOCK } from "./cache/block_store.ts";

/** Bytes prefetched ahead of a reader: at first, and at most. */
const FIRST_AHEAD = 1 << 19;
const MOST_AHEAD = 32 << 20;
/** Sequential steps after which a reader counts as sequential. */
const GOES_ON = 2;
/** Most readers that are tracked. */
const MOST_READERS = 16;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Predicts what sequential readers want next: further ahead the longer they continue. It is called for each read, so it
 * allocates only its results.
 */
export class ReadAhead {
  /** Position of each reader, and end of what was prefetched for it. */
  readonly #at = new Float64Array(MOST_READERS).fill(-Infinity);
  readonly #ahead = new Float64Array(MOST_READERS).fill(-Infinity);
  readonly #window = new Float64Array(MOST_READERS);
  readonly #steps = new Float64Array(MOST_READERS);
  readonly #heard = new Float64Array(MOST_READERS);
  #time = 0;

  /** Records a read. Returns what to prefetch in addition to earlier results, possibly behind the end of the object. */
  follow(start: number, end: number): Span | undefined {
    const reader = this.#readerAt(start);
    const isSequential = start <= this.#ahead[reader]! + CACHE_BLOCK;
    this.#heard[reader] = ++this.#time;
    this.#at[reader] = end;
    if (!isSequential) {
      this.#ahead[reader] = end;
      this.#window[reader] = 0;
      this.#steps[reader] = 0;
      return undefined;
    }
    const ahead = Math.max(this.#ahead[reader]!, end);
    this.#ahead[reader] = ahead;
    // A single step may be chance if samples are read in any order.
    if (++this.#steps[reader]! < GOES_ON) return undefined;
    const window = Math.min(
      Math.max(FIRST_AHEAD, 2 * this.#window[reader]!),
      MOST_AHEAD,
    );
    this.#window[reader] = window;
    const until = end + window;
    // A request per block would be too many.
    if (until - ahead < window / 2) return undefined;
    this.#ahead[reader] = until;
    return { start: ahead, end: until };
  }

  /** Returns the reader that continues at an offset, or else the least recent one. */
  #readerAt(start: number): number {
    let oldest = 0;
    for (let i = 0; i < MOST_READERS; i++) {
      const isThere = start >= this.#at[i]! &&
        // The rest of a read that starts in the previous block may have been cached.
        start <= this.#ahead[i]! + CACHE_BLOCK;
      if (isThere) return i;
      if (this.#heard[i]! < this.#heard[oldest]!) oldest = i;
    }
    this.#at[oldest] = Infinity; // reused for another reader
    this.#ahead[oldest] = -Infinity;
    return oldest;
  }
}
