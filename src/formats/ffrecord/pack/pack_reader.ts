import type { Directory } from "../../../io/dirfd/directory.ts";
import { SampleBlock } from "../write/sample_block.ts";
import { PackFiles } from "./pack_files.ts";
import type { PackListing } from "./pack_listing.ts";

/** Reads the files of a folder in listing order. */
export interface PackReader {
  /**
   * Reads the next files, each a sample, of which at most `most` end in the block.
   *
   * @returns `undefined` after the last file, or if `most` is 0.
   * @throws {PackError} If a file has changed since it was listed, or changes meanwhile.
   */
  next(most: number): Promise<SampleBlock | undefined>;
  free(block: SampleBlock): void;
  /** Closes everything opened below the folder, but not the folder itself. */
  close(): Promise<void>;
}

/** Bytes of a block, few enough to be written from the CPU's nearest cache. */
const READ_BLOCK = 1 << 17;

export class PackReaderHere implements PackReader {
  readonly #files: PackFiles;
  readonly #free: SampleBlock[] = [];

  constructor(root: Directory, listing: PackListing) {
    this.#files = new PackFiles(root, listing[Symbol.iterator]());
  }

  // deno-lint-ignore require-await -- what is wrong with a file rejects
  async next(most: number): Promise<SampleBlock | undefined> {
    const block = this.#free.pop() ??
      new SampleBlock(new ArrayBuffer(SampleBlock.sizeFor(READ_BLOCK)));
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
