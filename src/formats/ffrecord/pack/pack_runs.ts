import { ROWS } from "../write/sample_block.ts";

/** Bytes of a block: with fewer, threads wait for each other; more would exceed the CPU's cache. */
export const RUN_BLOCK = 1 << 20;

/**
 * Share of one of the threads that read a folder. The files are divided, in order, into runs: as many files as fit a
 * block, or one larger file. Each thread walks the whole listing, counts the same runs, and reads those that it has
 * claimed; an idle thread claims the next one.
 */
export class PackRuns {
  /** Number of the next unclaimed run, shared by all threads. */
  readonly #next: Int32Array;
  #claimed = -1;
  /** Run of the current file, and its files and bytes so far. */
  #run = -1;
  #files = 0;
  #bytes = 0;
  /** Whether the current file belongs to a later run, and so will be looked at again. */
  #isLater = false;

  /** @param counter Four zero bytes, shared by the threads. */
  constructor(counter: SharedArrayBuffer) {
    this.#next = new Int32Array(counter);
  }

  get claimed(): number {
    return this.#claimed;
  }

  /** Whether all files of the claimed run, and one of the next, have been looked at. */
  get isOver(): boolean {
    return this.#run > this.#claimed;
  }

  /** Number of runs so far; of all, once the listing has ended. */
  get count(): number {
    return this.#run + 1;
  }

  claim(): void {
    this.#claimed = Atomics.add(this.#next, 0, 1);
  }

  /** Decides about the next file of the listing: read it, skip it, or stop before it. */
  look(size: number): "read" | "pass" | "stop" {
    if (this.#isLater) this.#isLater = false;
    else this.#count(size);
    if (this.#run < this.#claimed) return "pass";
    this.#isLater = this.#run > this.#claimed;
    return this.#isLater ? "stop" : "read";
  }

  #count(size: number): void {
    const begins = this.#run < 0 || this.#files === ROWS ||
      this.#bytes >= RUN_BLOCK || this.#bytes + size > RUN_BLOCK;
    if (begins) {
      this.#run++;
      this.#files = this.#bytes = 0;
    }
    this.#files++;
    this.#bytes += size;
  }
}
