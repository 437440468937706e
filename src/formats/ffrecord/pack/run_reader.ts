import type { Directory } from "../../../io/directories/directory.ts";
import { SampleBlock } from "../write/sample_block.ts";
import { PackFiles } from "./pack_files.ts";
import { ListedEntries, type PackListing } from "./pack_listing.ts";
import { BLOCK, PackRuns } from "./pack_runs.ts";

/** Blocks that are read before they are asked for, at most. */
const MOST_AHEAD = 16;

/** Reads runs of a listing in this thread, while others read the rest. */
export class RunReader {
  readonly #runs: PackRuns;
  readonly #files: PackFiles;
  /** The first blocks of runs that were read, and not asked for yet. */
  readonly #read = new Map<number, SampleBlock>();
  /** A run of which more than a block is left, which is read when it is asked for: nothing else can be until then. */
  #large: number | undefined;
  #isOver = false;
  readonly #free: SampleBlock[] = [];

  /** @param counter By which the threads claim runs. */
  constructor(
    root: Directory,
    listing: PackListing,
    counter: SharedArrayBuffer,
  ) {
    this.#runs = new PackRuns(counter);
    const entries = new ListedEntries(listing.chunks, this.#runs);
    this.#files = new PackFiles(root, entries);
  }

  /** How many runs there are, once that is known. */
  get runs(): number | undefined {
    return this.#isOver ? this.#runs.count : undefined;
  }

  /**
   * Reads a run that nobody has claimed, or its first block, if there is one and room for it.
   *
   * @returns Whether something has changed by that.
   * @throws {PackError} If a file is not what it was when it was listed.
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

  /** Whether there is something left of a run here. */
  owns(run: number): boolean {
    return this.#read.has(run) || this.#large === run;
  }

  /** The next block of a run that it owns; it may be empty. */
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

  /** Gives a block back, to be read into. */
  free(block: SampleBlock): void {
    this.#free.push(block);
  }

  /** Closes what is open. */
  close(): void {
    this.#files.close();
  }

  #fill(): SampleBlock {
    const block = this.#free.pop() ??
      new SampleBlock(new ArrayBuffer(SampleBlock.sizeFor(BLOCK)));
    block.clear();
    this.#files.fill(block, Infinity);
    return block;
  }
}
