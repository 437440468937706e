import type { Directory } from "../../../io/dirfd/directory.ts";
import { SampleBlock } from "../write/sample_block.ts";
import { PackFiles } from "./pack_files.ts";
import { ListedEntries, type PackListing } from "./pack_listing.ts";
import { PackRuns, RUN_BLOCK } from "./pack_runs.ts";

const MOST_AHEAD = 16;

/** Reads runs of a listing in this thread, while others read the rest. */
export class RunReader {
  readonly #runs: PackRuns;
  readonly #files: PackFiles;
  /** First blocks of runs that have been read but not taken. */
  readonly #read = new Map<number, SampleBlock>();
  /** Run of which more than a block is left. The rest is read when taken; until then, no other run can be read. */
  #large: number | undefined;
  #isOver = false;
  readonly #free: SampleBlock[] = [];

  constructor(
    root: Directory,
    listing: PackListing,
    counter: SharedArrayBuffer,
  ) {
    this.#runs = new PackRuns(counter);
    const entries = new ListedEntries(listing.chunks, this.#runs);
    this.#files = new PackFiles(root, entries);
  }

  get runs(): number | undefined {
    return this.#isOver ? this.#runs.count : undefined;
  }

  /**
   * Claims and reads a run, or its first block, if there is one and room for it; returns whether anything has changed.
   *
   * @throws {PackError} If a file has changed since it was listed.
   */
  readAhead(): boolean {
    if (
      this.#isOver || this.#large !== undefined ||
      this.#read.size === MOST_AHEAD
    ) return false;
    this.#runs.claim();
    const block = this.#fill();
    const run = this.#runs.claimed;
    if (run >= this.#runs.count) {
      this.#isOver = true;
      this.free(block);
      return true;
    }
    this.#read.set(run, block);
    if (block.isFull) this.#large = run;
    return true;
  }

  /** Whether this thread has more blocks of a run. */
  owns(run: number): boolean {
    return this.#read.has(run) || this.#large === run;
  }

  /** Returns the next block of a run that it owns, which may be empty. */
  take(run: number): SampleBlock {
    const first = this.#read.get(run);
    if (first !== undefined) {
      this.#read.delete(run);
      return first;
    }
    const block = this.#fill();
    if (!block.isFull) this.#large = undefined;
    return block;
  }

  free(block: SampleBlock): void {
    this.#free.push(block);
  }

  close(): void {
    this.#files.close();
  }

  #fill(): SampleBlock {
    const block = this.#free.pop() ??
      new SampleBlock(new ArrayBuffer(SampleBlock.sizeFor(RUN_BLOCK)));
    block.clear();
    this.#files.fill(block, Infinity);
    return block;
  }
}
