import { FormatError } from "../../../base/errors.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { mustWait } from "../../../io/storage/must_wait.ts";
import { NotLoaded } from "../../../tree/not_loaded.ts";

/** Bytes of a page. */
const PAGE = 4096;
/** Pages that may hold the same part of different files, of which the oldest gives way. */
const WAYS = 4;
/** Pages that a thread keeps: 4 MiB. */
const PAGES = 1024;

/**
 * Pages of files that were read last: up to so many, in memory that is taken when it is first needed and
 * kept. One thread's own.
 */
export class PageCache {
  readonly #sets: number;
  /** Which file each page is of; -1 for none. In 64 bits: files are numbered on for as long as it serves. */
  readonly #fileOf: Float64Array;
  /** Which page of that file it is. */
  readonly #numberOf: Float64Array;
  readonly #pages: (Uint8Array<ArrayBuffer> | undefined)[];
  /** The number of bytes of each page. */
  readonly #lengths: Uint16Array;
  /** In each set, the way that gives way next. */
  readonly #next: Uint8Array;
  #files = 0;
  /** Bytes of the page that {@linkcode PageCache.page} gave last. */
  length = 0;

  /** @param pages How many there may be, 4 KiB each; a power of 2. */
  constructor(pages: number) {
    this.#sets = pages / WAYS;
    this.#fileOf = new Float64Array(pages).fill(-1);
    this.#numberOf = new Float64Array(pages);
    this.#pages = new Array(pages).fill(undefined);
    this.#lengths = new Uint16Array(pages);
    this.#next = new Uint8Array(this.#sets);
  }

  /** A number for a file, never given again. */
  newFile(): number {
    return this.#files++;
  }

  /**
   * A page of a file, valid until the next call; {@linkcode PageCache.length} says how much of it there
   * is.
   *
   * @param start Where the file's pages begin.
   * @throws {NotLoaded} If it is not here and has to be waited for.
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

  /** Reads a page that has to be waited for. */
  *#load(
    file: number,
    source: ByteSource,
    start: number,
    number: number,
  ): Steps<void> {
    const page = new Uint8Array(PAGE); // others may be put where this will be
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

  /** The slot of the page that gives way: it is nobody's, since reading may fail. */
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

/** Indexes and references are read again and again: what is kept of them is for all that a thread reads. */
const ofThread = new PageCache(PAGES);

/** A part of a file that is read page by page. */
export class PagedFile {
  readonly #cache: PageCache;
  readonly #file: number;
  readonly #source: ByteSource;
  readonly #start: number;

  /**
   * @param start Byte offset that counts as 0.
   * @param cache Keeps pages; that of the thread by default.
   */
  constructor(source: ByteSource, start: number, cache = ofThread) {
    this.#cache = cache;
    this.#file = cache.newFile();
    this.#source = source;
    this.#start = start;
  }

  /**
   * Copies `length` bytes from `offset` on to the start of `into`.
   *
   * @throws {FormatError} If the file was cut meanwhile.
   * @throws {NotLoaded} If they have to be waited for.
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
      `${path} was cut after it was opened: it ends at byte ${offset}; fetch it again`,
      { path, offset },
    );
  }
}
