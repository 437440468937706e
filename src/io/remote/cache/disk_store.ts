import { crc32Of } from "../../read/crc32_of.ts";
import type { FileSource } from "../../storage/file_source.ts";
import {
  type BlockMap,
  blockOf,
  type BlockStore,
  CACHE_BLOCK,
  Known,
} from "./block_store.ts";
import { openBlockFile } from "./block_file.ts";
import type { CachedObject } from "./cached_object.ts";
import type { ObjectCounter } from "./object_counts.ts";
import type { PooledFile } from "./pooled_file.ts";

const WORD = Uint32Array.BYTES_PER_ELEMENT;
/** Most checksums read or written at a time. */
const SUMS = 1 << 16;
/** Buffer of checksums being read or written, of any object. */
const WORDS = new Uint32Array(SUMS);
const WORD_BYTES = new Uint8Array(WORDS.buffer);

/**
 * Stores blocks in a sparse file of the object's size. A second file has the CRC-32 of each block, or 0 if it is
 * missing. The checksum is written after the block, so that a killed process leaves whole blocks only. What was written
 * before the machine restarted is checked on first read, because the disk may have only one of the two.
 */
export class DiskStore implements BlockStore {
  readonly map: BlockMap;
  readonly #object: CachedObject;
  readonly #size: number;
  readonly #data: PooledFile;
  readonly #sums: PooledFile;
  /** The data, read as fast as a local container. */
  readonly #file: FileSource;
  readonly #known: Uint8Array<SharedArrayBuffer>;
  #isFailing = false;
  #isClosed = false;

  constructor(object: CachedObject) {
    this.#object = object;
    this.#size = object.size;
    this.#data = object.data;
    this.#sums = object.sums;
    const path = `${object.path}/data`;
    const { device, inode } = object.data.use((data) => data.facts());
    this.#file = openBlockFile({ path, device, inode });
    const blocks = Math.ceil(object.size / CACHE_BLOCK);
    this.#known = new Uint8Array(new SharedArrayBuffer(blocks));
    const { hits } = object.counts;
    this.map = { path, device, inode, known: this.#known, hits };
    const known = object.isOfThisStart ? Known.Present : Known.Unsure;
    for (let first = 0; first < blocks; first += SUMS) {
      const count = this.#readSums(first, SUMS);
      for (let i = 0; i < count; i++) {
        if (WORDS[i] !== 0) this.#known[first + i] = known;
      }
    }
  }

  get counts(): ObjectCounter {
    return this.#object.counts;
  }

  has(block: number): boolean {
    return this.#known[block]! >= Known.Present;
  }

  look(first: number, last: number): void {
    if (this.#isClosed) return;
    for (let block = first; block <= last; block++) {
      if (this.has(block)) continue;
      // Checks up to the last block not known to be present, including those in between.
      let end = last;
      while (this.has(end)) end--;
      block = this.#lookFrom(block, end);
    }
  }

  lastKept(): number {
    try {
      return this.#sums.use((sums) => sums.facts().mtimeMs);
    } catch {
      return 0; // closed, or replaced, which reads report
    }
  }

  /** Checks as many blocks as it reads checksums at a time, and returns the last one. */
  #lookFrom(first: number, last: number): number {
    const count = this.#readSums(first, last - first + 1);
    if (count === 0) return last;
    const { isOfThisStart } = this.#object;
    const sums = WORDS.slice(0, count); // a copy, because re-reading blocks overwrites these
    for (const [i, sum] of sums.entries()) {
      const block = first + i;
      if (this.has(block)) continue;
      const isUnsure = this.#known[block] === Known.Unsure;
      const isThere = sum !== 0 &&
        (!isUnsure && isOfThisStart || sum === this.#dataSum(block));
      this.#know(block, isThere ? Known.Present : Known.Absent);
    }
    return first + count - 1;
  }

  read(into: Uint8Array, offset: number): number {
    const length = this.#present(into, offset);
    if (length <= 0) return 0;
    try {
      const part = into.subarray(0, length);
      if (this.#file.readAtSync(part, offset) === length) return length;
    } catch {
      // Invalidated below.
    }
    this.#invalidatePart(offset, length);
    return 0;
  }

  readCached(into: Uint8Array, offset: number): number {
    const length = this.#present(into, offset);
    if (length <= 0) return 0;
    try {
      const part = length === into.length ? into : into.subarray(0, length);
      return this.#file.readCached(part, offset);
    } catch {
      this.#invalidatePart(offset, length);
      return 0;
    }
  }

  async readLater(into: Uint8Array, offset: number): Promise<boolean> {
    try {
      const got = this.readCached(into, offset);
      if (got === into.length) return true;
      const rest = into.subarray(got);
      const more = await this.#file.readAt(rest, offset + got);
      if (more === rest.length) return true;
    } catch {
      // Invalidated below.
    }
    this.#invalidatePart(offset, into.length);
    return false;
  }

  keep(first: number, bytes: Uint8Array): number {
    if (this.#isFailing) return 0;
    const room = this.#object.takeRoom(bytes.length);
    const kept = bytes.subarray(0, room);
    try {
      this.#data.use((data) => data.write(kept, first * CACHE_BLOCK));
      const piece = SUMS * CACHE_BLOCK;
      for (let done = 0; done < room; done += piece) {
        const blocks = kept.subarray(done, done + piece);
        this.#noteSums(first + done / CACHE_BLOCK, blocks);
      }
      return room;
    } catch (error) {
      this.#isFailing = true;
      this.#object.failed(error);
      return 0;
    }
  }

  invalidate(first: number, last: number): void {
    for (let block = first; block <= last; block++) {
      try {
        WORDS[0] = 0;
        this.#writeSums(block, 1);
      } catch {
        // Invalidated for this process at least:
      }
      this.#know(block, Known.Absent);
    }
  }

  #invalidatePart(offset: number, length: number): void {
    this.invalidate(blockOf(offset), blockOf(offset + length - 1));
  }

  /** Checks all blocks against their checksums, and invalidates damaged ones. Returns the number of both. */
  verify(): { readonly blocks: number; readonly damaged: number } {
    let blocks = 0;
    let damaged = 0;
    for (let block = 0; block < this.#known.length; block++) {
      const sum = this.#sum(block);
      if (sum === 0) continue;
      blocks++;
      if (sum === this.#dataSum(block)) continue;
      damaged++;
      this.invalidate(block, block);
    }
    return { blocks, damaged };
  }

  mark(block: number): void {
    const { Present, Marked } = Known;
    Atomics.compareExchange(this.#known, block, Present, Marked);
  }

  close(): void {
    // Requests in flight store nothing more.
    this.#isFailing = this.#isClosed = true;
    this.#file.close();
    this.#object.close();
  }

  /** Returns how many of the wanted bytes are present, from the first on. */
  #present(into: Uint8Array, offset: number): number {
    const end = Math.min(offset + into.length, this.#size);
    let until = offset;
    while (until < end && this.has(blockOf(until))) {
      until = (blockOf(until) + 1) * CACHE_BLOCK;
    }
    return Math.min(until, end) - offset;
  }

  #sum(block: number): number {
    return this.#readSums(block, 1) === 1 ? WORDS[0]! : 0;
  }

  /** Reads the checksums of blocks; there may be fewer than requested. */
  #readSums(first: number, most: number): number {
    const { length } = WORD_BYTES;
    const wanted = Math.min(most * WORD, length);
    const into = WORD_BYTES.subarray(0, wanted);
    const got = this.#sums.use((sums) => sums.read(into, first * WORD));
    return Math.floor(got / WORD);
  }

  #writeSums(first: number, count: number): void {
    const bytes = WORD_BYTES.subarray(0, count * WORD);
    this.#sums.use((sums) => sums.write(bytes, first * WORD));
  }

  /** Records written blocks as present, which other threads rely on. */
  #noteSums(first: number, bytes: Uint8Array): void {
    const count = Math.ceil(bytes.length / CACHE_BLOCK);
    for (let i = 0; i < count; i++) {
      const block = bytes.subarray(i * CACHE_BLOCK, (i + 1) * CACHE_BLOCK);
      WORDS[i] = sumOf(block);
    }
    this.#writeSums(first, count);
    for (let i = 0; i < count; i++) this.#know(first + i, Known.Present);
  }

  #dataSum(block: number): number {
    const start = block * CACHE_BLOCK;
    const bytes = new Uint8Array(Math.min(CACHE_BLOCK, this.#size - start));
    try {
      const got = this.#data.use((data) => data.read(bytes, start));
      return got === bytes.length ? sumOf(bytes) : 0;
    } catch {
      return 0;
    }
  }

  #know(block: number, known: number): void {
    Atomics.store(this.#known, block, known);
  }
}

/** Returns the CRC-32 of a block, never 0, which marks missing blocks. */
function sumOf(block: Uint8Array): number {
  return crc32Of(block) || 1;
}
