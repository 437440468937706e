import * as fs from "node:fs";
import { crc32Of } from "../../read/crc32_of.ts";
import {
  BLOCK,
  type BlockMap,
  blockOf,
  type BlockStore,
  Known,
} from "./block_store.ts";
import type { CachedObject } from "./cache_directory.ts";

const WORD = Uint32Array.BYTES_PER_ELEMENT;

/**
 * Keeps blocks in a sparse file of the object's size. Beside it is a file of the CRC-32 of each, 0 where it is not there:
 * written after the block, so that a process that is killed leaves only whole ones. What was written before the machine
 * was started is compared when it is first read: its disk may have kept one without the other.
 */
export class DiskStore implements BlockStore {
  readonly map: BlockMap;
  readonly #object: CachedObject;
  readonly #size: number;
  readonly #data: number;
  readonly #sums: number;
  readonly #known: Uint8Array<SharedArrayBuffer>;
  readonly #word = new Uint32Array(1);
  readonly #wordBytes = new Uint8Array(this.#word.buffer);
  #isFailing = false;

  /**
   * Opens an object's files, which there are.
   *
   * @param object Where it is.
   */
  constructor(object: CachedObject) {
    this.#object = object;
    this.#size = object.size;
    this.#data = fs.openSync(`${object.path}/data`, "r+");
    try {
      this.#sums = fs.openSync(`${object.path}/sums`, "r+");
    } catch (error) {
      fs.closeSync(this.#data);
      throw error;
    }
    const { dev: device, ino: inode } = fs.fstatSync(this.#data);
    const blocks = Math.ceil(object.size / BLOCK);
    this.#known = new Uint8Array(new SharedArrayBuffer(blocks));
    const path = `${object.path}/data`;
    this.map = { path, device, inode, known: this.#known };
    const sums = new Uint32Array(this.#known.length);
    const bytes = new Uint8Array(sums.buffer);
    fs.readSync(this.#sums, bytes, 0, bytes.length, 0);
    const known = object.isOfThisStart ? Known.Present : Known.Unsure;
    for (const [block, sum] of sums.entries()) {
      if (sum !== 0) this.#known[block] = known;
    }
  }

  has(block: number): boolean {
    return this.#known[block]! >= Known.Present || this.#isThere(block);
  }

  read(into: Uint8Array, offset: number): number {
    const end = Math.min(offset + into.length, this.#size);
    let until = offset;
    while (until < end && this.has(blockOf(until))) {
      until = (blockOf(until) + 1) * BLOCK;
    }
    const length = Math.min(until, end) - offset;
    if (length <= 0) return 0;
    try {
      const got = fs.readSync(this.#data, into, 0, length, offset);
      if (got === length) return got;
    } catch {
      // As below.
    }
    this.forget(blockOf(offset), blockOf(offset + length - 1));
    return 0;
  }

  keep(first: number, bytes: Uint8Array): void {
    if (this.#isFailing) return;
    const room = this.#object.takeRoom(bytes.length);
    const kept = bytes.subarray(0, room);
    try {
      writeAll(this.#data, kept, first * BLOCK);
      for (let start = 0; start < room; start += BLOCK) {
        const block = kept.subarray(start, start + BLOCK);
        this.#setSum(first + start / BLOCK, sumOf(block));
      }
    } catch (error) {
      this.#isFailing = true;
      this.#object.failed(error);
    }
  }

  forget(first: number, last: number): void {
    for (let block = first; block <= last; block++) {
      try {
        this.#setSum(block, 0);
      } catch {
        this.#know(block, Known.Absent); // at least for this process
      }
    }
  }

  /**
   * Compares what is there with its checksums, and forgets what does not match.
   *
   * @returns How many blocks were there, and how many of them were forgotten.
   */
  verify(): { readonly blocks: number; readonly damaged: number } {
    let blocks = 0;
    let damaged = 0;
    for (let block = 0; block < this.#known.length; block++) {
      const sum = this.#sum(block);
      if (sum === 0) continue;
      blocks++;
      if (sum === this.#dataSum(block)) continue;
      damaged++;
      this.forget(block, block);
    }
    return { blocks, damaged };
  }

  mark(block: number): void {
    const { Present, Marked } = Known;
    Atomics.compareExchange(this.#known, block, Present, Marked);
  }

  close(): void {
    fs.closeSync(this.#data);
    fs.closeSync(this.#sums);
    this.#object.close();
  }

  /** Looks at what another process, or another start of the machine, may have left. */
  #isThere(block: number): boolean {
    const isUnsure = this.#known[block] === Known.Unsure;
    const sum = this.#sum(block);
    const isThere = sum !== 0 &&
      (!isUnsure && this.#object.isOfThisStart || sum === this.#dataSum(block));
    this.#know(block, isThere ? Known.Present : Known.Absent);
    return isThere;
  }

  /** The sum that is noted, or 0. */
  #sum(block: number): number {
    const at = block * WORD;
    const got = fs.readSync(this.#sums, this.#wordBytes, 0, WORD, at);
    return got === WORD ? this.#word[0]! : 0;
  }

  #dataSum(block: number): number {
    const start = block * BLOCK;
    const bytes = new Uint8Array(Math.min(BLOCK, this.#size - start));
    try {
      const got = fs.readSync(this.#data, bytes, 0, bytes.length, start);
      return got === bytes.length ? sumOf(bytes) : 0;
    } catch {
      return 0;
    }
  }

  #setSum(block: number, sum: number): void {
    this.#word[0] = sum;
    writeAll(this.#sums, this.#wordBytes, block * WORD);
    this.#know(block, sum === 0 ? Known.Absent : Known.Present);
  }

  /** After the block has been written: other threads go by it. */
  #know(block: number, known: number): void {
    Atomics.store(this.#known, block, known);
  }
}

/** The CRC-32 of a block, which is never 0: that says that it is not there. */
function sumOf(block: Uint8Array): number {
  return crc32Of(block) || 1;
}

function writeAll(fd: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
}
