import { ROWS } from "../write/sample_block.ts";

/** Bytes of a block: fewer have threads wait for each other, more would not stay in a processor's cache. */
export const BLOCK = 1 << 20;

/**
 * What one of the threads that read a folder takes of it. The files, in their order, come in runs: as many as a block
 * holds, or one that is larger. Each thread goes through the whole listing, counts the runs as the others do, and reads
 * those that it has claimed; whoever has nothing to do claims the next one.
 */
export class PackRuns {
  /** Number of the next run that nobody has claimed; of all threads. */
  readonly #next: Int32Array;
  #claimed = -1;
  /** The run of the file that was looked at last, and what of it has been so far. */
  #run = -1;
  #files = 0;
  #bytes = 0;
  /** Whether the file that was looked at last is of a run that comes later: it is looked at again. */
  #isLater = false;

  /** @param counter Four bytes of zeros, for the threads that share the work. */
  constructor(counter: SharedArrayBuffer) {
    this.#next = new Int32Array(counter);
  }

  /** The run that this thread has claimed last. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Whether all files of the claimed run have been looked at, and one of the next. */
  get isOver(): boolean {
    return this.#run > this.#claimed;
  }

  /** Number of runs that have been looked at: of all, when the listing has ended. */
  get count(): number {
    return this.#run + 1;
  }

  /** Claims a run. */
  claim(): void {
    this.#claimed = Atomics.add(this.#next, 0, 1);
  }

  /** Says what is to be done with the next file of the listing: read it, pass it, or stop before it. */
  look(size: number): "read" | "pass" | "stop" {
    if (this.#isLater) this.#isLater = false;
    else this.#count(size);
    if (this.#run < this.#claimed) return "pass";
    this.#isLater = this.#run > this.#claimed;
    return this.#isLater ? "stop" : "read";
  }

  #count(size: number): void {
    const begins = this.#run < 0 || this.#files === ROWS ||
      this.#bytes >= BLOCK || this.#bytes + size > BLOCK;
    if (begins) {
      this.#run++;
      this.#files = this.#bytes = 0;
    }
    this.#files++;
    this.#bytes += size;
  }
}
