import type { Directory } from "../../../io/directories/directory.ts";
import { SampleBlock } from "../write/sample_block.ts";
import { PackFiles } from "./pack_files.ts";
import type { PackListing } from "./pack_listing.ts";

/** Reads the files of a folder in the order in which they were listed. */
export interface PackReader {
  /**
   * The next files, each a sample.
   *
   * @param most How many may end in the block.
   * @returns `undefined` after the last, or as many as may.
   * @throws {PackError} If one is not what it was when it was listed, or changes meanwhile.
   */
  next(most: number): Promise<SampleBlock | undefined>;
  /** Gives a block back, to be read into. */
  free(block: SampleBlock): void;
  /** Closes what is open of the folder, but the folder itself. */
  close(): Promise<void>;
}

/** Bytes of a block: what was just read is written from a processor's nearest cache. */
const BLOCK = 1 << 17;

/** Reads them in this thread. */
export class PackReaderHere implements PackReader {
  readonly #files: PackFiles;
  readonly #free: SampleBlock[] = [];

  constructor(root: Directory, listing: PackListing) {
    this.#files = new PackFiles(root, listing[Symbol.iterator]());
  }

  // deno-lint-ignore require-await -- what is wrong with a file rejects
  async next(most: number): Promise<SampleBlock | undefined> {
    const block = this.#free.pop() ??
      new SampleBlock(new ArrayBuffer(SampleBlock.sizeFor(BLOCK)));
    block.clear();
    this.#files.fill(block, most);
    if (!block.isEmpty) return block;
    this.free(block);
    return undefined;
  }

  free(block: SampleBlock): void {
    this.#free.push(block);
  }

  // deno-lint-ignore require-await -- as that of other readers
  async close(): Promise<void> {
    this.#files.close();
  }
}
