import { FormatError } from "../base/errors.ts";
import { perform, type Steps } from "../io/concurrency/steps.ts";
import type { ByteSource } from "../io/storage/byte_source.ts";
import { mustWait } from "../io/storage/must_wait.ts";
import { NotLoaded } from "./not_loaded.ts";

const PAGE = 4096;
/** Associativity of the page cache: pages per set. The oldest is evicted. */
const WAYS = 4;
/** Pages cached per thread: 4 MiB. */
const PAGES = 1024;

/** Set-associative cache of recently read file pages of one thread, FIFO in each set. Allocates a page on first use. */
export class PageCache {
  readonly #sets: number;
  /** File number of each page, -1 for none. A 64-bit float, since file numbers are never reused. */
  readonly #fileOf: Float64Array;
  /** Page number in that file. */
  readonly #numberOf: Float64Array;
  readonly #pages: (Uint8Array<ArrayBuffer> | undefined)[];
  /** Valid bytes of each page. */
  readonly #lengths: Uint16Array;
  /** Next way to evict in each set. */
  readonly #next: Uint8Array;
  #files = 0;
  /** Valid bytes of the page that {@linkcode PageCache.page} last returned. */
  length = 0;

  /** @param pages Capacity in pages of 4 KiB; a power of 2. */
  constructor(pages: number) {
    this.#sets = pages / WAYS;
    this.#fileOf = new Float64Array(pages).fill(-1);
    this.#numberOf = new Float64Array(pages);
    this.#pages = new Array(pages).fill(undefined);
    this.#lengths = new Uint16Array(pages);
    this.#next = new Uint8Array(this.#sets);
  }

  /** Returns a number for a file, never reused. */
  newFile(): number {
    return this.#files++;
  }

  /**
   * Returns a page of a file, valid until the next call; {@linkcode PageCache.length} is the number of its valid bytes.
   * Throws `NotLoaded` if the page must be read asynchronously. `start` is the offset of page 0 in the file.
   */
  page(
    file: number,
    source: ByteSource,
    start: number,
    number: number,
  ): Uint8Array<ArrayBuffer> {
    const set = this.#setOf(file, number);
    for (let slot = set * WAYS; slot < (set + 1) * WAYS; slot++) {
      if (this.#fileOf[slot] !== file || this.#numberOf[slot] !== number) {
        continue;
      }
      this.length = this.#lengths[slot]!;
      return this.#pages[slot]!;
    }
    if (source.readAtSync === undefined) {
      const load = () => this.#load(file, source, start, number);
      throw new NotLoaded(source.name, load);
    }
    const slot = this.#makeRoom(set);
    const page = this.#pages[slot] ??= new Uint8Array(PAGE);
    const length = source.readAtSync(page, start + number * PAGE);
    this.#keep(slot, file, number, length);
    return page;
  }

  *#load(
    file: number,
    source: ByteSource,
    start: number,
    number: number,
  ): Steps<void> {
    const page = new Uint8Array(PAGE); // not a cached page: its slot may be reused meanwhile
    const length = yield* perform({
      sync: (): number => {
        throw mustWait(source.name);
      },
      async: (signal) => source.readAt(page, start + number * PAGE, { signal }),
    });
    const slot = this.#makeRoom(this.#setOf(file, number));
    this.#pages[slot] = page;
    this.#keep(slot, file, number, length);
  }

  #setOf(file: number, number: number): number {
    return (number + file * 7) % this.#sets;
  }

  /** Evicts a page and returns its slot, which belongs to no file until filled, since reading may fail. */
  #makeRoom(set: number): number {
    const way = this.#next[set]!;
    this.#next[set] = (way + 1) % WAYS;
    const slot = set * WAYS + way;
    this.#fileOf[slot] = -1;
    return slot;
  }

  #keep(slot: number, file: number, number: number, length: number): void {
    this.#lengths[slot] = this.length = length;
    this.#numberOf[slot] = number;
    this.#fileOf[slot] = file;
  }
}

/** Cache of this thread, shared by all containers: indexes and references are read again and again. */
const ofThread = new PageCache(PAGES);

/** Part of a file that is read through a page cache. */
export class PagedFile {
  readonly #cache: PageCache;
  readonly #file: number;
  readonly #source: ByteSource;
  readonly #start: number;

  /** @param start Byte offset that counts as 0. */
  constructor(source: ByteSource, start: number, cache = ofThread) {
    this.#cache = cache;
    this.#file = cache.newFile();
    this.#source = source;
    this.#start = start;
  }

  /**
   * Copies `length` bytes from `offset` to the start of `into`.
   *
   * @throws {FormatError} If the file was truncated after it was opened.
   * @throws {NotLoaded} If a page must be read asynchronously.
   */
  copy(into: Uint8Array, offset: number, length: number): void {
    for (let done = 0; done < length;) {
      const from = (offset + done) % PAGE;
      const part = Math.min(PAGE - from, length - done);
      const page = this.#page(Math.floor((offset + done) / PAGE), from + part);
      for (let i = 0; i < part; i++) into[done + i] = page[from + i]!;
      done += part;
    }
  }

  #page(number: number, need: number): Uint8Array {
    const page = this.#cache.page(
      this.#file,
      this.#source,
      this.#start,
      number,
    );
    if (this.#cache.length >= need) return page;
    const { name: path } = this.#source;
    const offset = this.#start + number * PAGE + this.#cache.length;
    throw new FormatError(
      "out-of-bounds",
      `Cannot read ${path}: it was truncated after it was opened, and ` +
        `ends at byte ${offset}. Download it again`,
      { path, offset },
    );
  }
}
