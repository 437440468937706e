import { BLOCK } from "./cache/block_store.ts";

/** Bytes that are fetched ahead of a reader at first, and at most. */
const FIRST_AHEAD = 1 << 19;
const MOST_AHEAD = 32 << 20;
/** Steps from front to back after which a reader is taken for one that goes on so. */
const GOES_ON = 2;
/** Readers whose places are remembered. */
const MOST_READERS = 16;

/** A reader that goes from front to back. */
interface Reader {
  /** Where it is, and up to where was fetched ahead of it. */
  at: number;
  ahead: number;
  window: number;
  /** How often it has gone on. */
  steps: number;
}

/** A range of bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Tells what readers who go from front to back will want next: further ahead the longer they go on. */
export class ReadAhead {
  readonly #readers: Reader[] = [];

  /**
   * Hears what was read.
   *
   * @returns What should be fetched by now, beside what was said before; it may lie behind the object's end.
   */
  follow(start: number, end: number): Span | undefined {
    const found = this.#readers.findIndex(({ at, ahead }) =>
      start >= at && start <= ahead + BLOCK // the rest of one may have been there
    );
    const reader = found < 0
      ? { at: start, ahead: end, window: 0, steps: 0 }
      : this.#readers.splice(found, 1)[0]!;
    this.#readers.push(reader);
    if (this.#readers.length > MOST_READERS) this.#readers.shift();
    reader.at = end;
    reader.ahead = Math.max(reader.ahead, end);
    // Once may be chance, where samples are read in any order.
    if (found < 0 || ++reader.steps < GOES_ON) return undefined;
    const { window, ahead } = reader;
    reader.window = Math.min(Math.max(FIRST_AHEAD, 2 * window), MOST_AHEAD);
    const from = Math.max(ahead, end);
    const until = end + reader.window;
    // A request for each block would be many.
    if (until - from < reader.window / 2) return undefined;
    reader.ahead = until;
    return { start: from, end: until };
  }
}
