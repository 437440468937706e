import {
  DECODED_BLOCK,
  type DecodedBlocks,
} from "../../io/block_cache/decoded_blocks.ts";
import type { CellPlace } from "./row_format.ts";

/** Cells decoded together may take the shared memory divided by this. */
const LARGEST_PART = 2;
/** Limits of block keys: blocks per part, parts, and columns. */
const MOST_BLOCKS = 1 << 10;
const MOST_PARTS = 1 << 21;
const MOST_COLUMNS = 2 ** 31;
const END = 4;

/**
 * Cells that some thread has decoded, shared by all threads that serve a tree. Cells decoded together are stored as one
 * content: their end offsets, then their bytes.
 */
export class SharedCells {
  readonly #blocks: DecodedBlocks;
  readonly #owner: number;

  /** @param owner Id of the files as an owner of blocks. */
  constructor(blocks: DecodedBlocks, owner: number) {
    this.#blocks = blocks;
    this.#owner = owner;
  }

  /** Returns the bytes of a cell, if cached. */
  read(place: CellPlace): Uint8Array | undefined {
    if (!isNumbered(place)) return undefined;
    const { index, count } = place;
    const ends = new Uint32Array(2);
    const bytes = new Uint8Array(ends.buffer);
    const isFirst = index === 0;
    const found = this.#fill(
      place,
      END * (isFirst ? 0 : index - 1),
      isFirst ? bytes.subarray(END) : bytes,
    );
    if (!found) return undefined;
    const cell = new Uint8Array(ends[1]! - ends[0]!);
    return this.#fill(place, END * count + ends[0]!, cell) ? cell : undefined;
  }

  /** Caches cells that were decoded together. */
  keep(place: CellPlace, cells: readonly Uint8Array[]): void {
    const ends = new Uint32Array(cells.length);
    let total = 0;
    for (const [i, { length }] of cells.entries()) ends[i] = total += length;
    const size = END * cells.length + total;
    const isSmall = size <= this.#blocks.capacity / LARGEST_PART &&
      size <= MOST_BLOCKS * DECODED_BLOCK;
    if (!isNumbered(place) || !isSmall) return;
    const all = new Uint8Array(size);
    all.set(new Uint8Array(ends.buffer));
    let at = END * cells.length;
    for (const cell of cells) {
      all.set(cell, at);
      at += cell.length;
    }
    const first = place.part * MOST_BLOCKS;
    for (let at = 0; at < size; at += DECODED_BLOCK) {
      const block = first + at / DECODED_BLOCK;
      const bytes = all.subarray(at, at + DECODED_BLOCK);
      this.#blocks.put(this.#owner, place.column, block, bytes);
    }
  }

  /** Claims the decoding of a column until {@linkcode SharedCells.release}; `false` if another thread did. */
  claim({ column }: CellPlace): boolean {
    return this.#blocks.claim(this.#owner, column);
  }

  release({ column }: CellPlace): void {
    this.#blocks.release(this.#owner, column);
  }

  #fill({ column, part }: CellPlace, from: number, into: Uint8Array): boolean {
    const first = part * MOST_BLOCKS;
    for (let done = 0; done < into.length;) {
      const at = (from + done) % DECODED_BLOCK;
      const block = first + Math.floor((from + done) / DECODED_BLOCK);
      const piece = into.subarray(done, done + DECODED_BLOCK - at);
      if (!this.#blocks.read(this.#owner, column, block, piece, at)) {
        return false;
      }
      done += piece.length;
    }
    return true;
  }
}

/** Whether a location is within the limits of block keys. */
function isNumbered({ column, part }: CellPlace): boolean {
  return column < MOST_COLUMNS && part < MOST_PARTS;
}
