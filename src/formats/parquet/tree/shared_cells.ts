import {
  BLOCK,
  type DecodedBlocks,
} from "../../../io/decoded/decoded_blocks.ts";
import type { CellPlace } from "../read/cells.ts";

/** Cells that were decoded together take at most this part of the room that threads share. */
const LARGEST_PART = 2;
/** Blocks of such, in the numbers of blocks. */
const MOST_BLOCKS = 1 << 10;
const MOST_PARTS = 1 << 21;
const MOST_COLUMNS = 2 ** 31;
/** Bytes of where a cell ends. */
const END = 4;

/**
 * Cells of pages that some thread has decoded, for all threads that serve a tree. Those that were decoded together are one
 * content: where each of them ends, and their bytes.
 */
export class SharedCells {
  readonly #blocks: DecodedBlocks;
  readonly #owner: number;

  /** @param owner The files, among what has blocks. */
  constructor(blocks: DecodedBlocks, owner: number) {
    this.#blocks = blocks;
    this.#owner = owner;
  }

  /** The bytes of a cell, if they are kept. */
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

  /** Keeps cells that were decoded together. */
  keep(place: CellPlace, cells: readonly Uint8Array[]): void {
    const ends = new Uint32Array(cells.length);
    let total = 0;
    for (const [i, { length }] of cells.entries()) ends[i] = total += length;
    const size = END * cells.length + total;
    const isSmall = size <= this.#blocks.capacity / LARGEST_PART &&
      size <= MOST_BLOCKS * BLOCK;
    if (!isNumbered(place) || !isSmall) return;
    const all = new Uint8Array(size);
    all.set(new Uint8Array(ends.buffer));
    let at = END * cells.length;
    for (const cell of cells) {
      all.set(cell, at);
      at += cell.length;
    }
    const first = place.part * MOST_BLOCKS;
    for (let at = 0; at < size; at += BLOCK) {
      const block = first + at / BLOCK;
      const bytes = all.subarray(at, at + BLOCK);
      this.#blocks.put(this.#owner, place.column, block, bytes);
    }
  }

  /**
   * Says that this thread decodes cells of a column, until {@linkcode SharedCells.release}.
   *
   * @returns `false` where another thread did meanwhile.
   */
  claim({ column }: CellPlace): boolean {
    return this.#blocks.claim(this.#owner, column);
  }

  /** Ends what {@linkcode SharedCells.claim} began. */
  release({ column }: CellPlace): void {
    this.#blocks.release(this.#owner, column);
  }

  #fill({ column, part }: CellPlace, from: number, into: Uint8Array): boolean {
    const first = part * MOST_BLOCKS;
    for (let done = 0; done < into.length;) {
      const at = (from + done) % BLOCK;
      const block = first + Math.floor((from + done) / BLOCK);
      const piece = into.subarray(done, done + BLOCK - at);
      if (!this.#blocks.read(this.#owner, column, block, piece, at)) {
        return false;
      }
      done += piece.length;
    }
    return true;
  }
}

/** Whether a place has numbers that blocks are kept by. */
function isNumbered({ column, part }: CellPlace): boolean {
  return column < MOST_COLUMNS && part < MOST_PARTS;
}
