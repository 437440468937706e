import type { Tree } from "../../src/tree/tree.ts";
import { LARGEST_PAGE_AHEAD, PAGES_READY } from "../limits.ts";
import { PagesAhead } from "./pages_ahead.ts";
import type { Reply } from "../wire/reply.ts";
import { LIST_REQUEST_SIZE, Request } from "../wire/request.ts";

/** Memory that the threads of a mount share to list ahead; it survives `postMessage`. */
export interface ListAheadMemory {
  readonly pages: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
}

/** Int32 slots of the shared memory. */
const THREADS = 0; // how many there have been
const LISTER = 1; // the one that lists ahead, counted from 1; 0 for none
const LAST = 2; // the directory that was listed from its start last, modulo 2^32
const WALKS = 3; // whether that one was the neighbour of the one before
const RUNS = 4; // how many have begun
const SLOTS = 5;

/** Makes the memory that the threads of a mount share to list ahead. */
export function newListAheadMemory(): ListAheadMemory {
  return {
    pages: new PagesAhead().memory,
    slots: new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT),
  };
}

/**
 * Writes the next pages of a listing while its reader digests the last one, which takes the kernel far
 * longer: it makes an inode of each entry. After the last page of a directory comes the first of
 * its neighbour, if directories have been listed in that order.
 *
 * One thread of a mount does it for all, so that one, not each, has to have the code compiled. It comes by
 * every few requests, so a few pages are kept ready.
 */
export class ListAhead {
  readonly #tree: Tree;
  readonly #pages: PagesAhead;
  readonly #slots: Int32Array;
  readonly #thread: number;
  readonly #write: (request: Request, page: Reply) => void;
  /** The request that comes after those for the pages of this run. */
  readonly #next = new Request(new Uint8Array(LIST_REQUEST_SIZE));
  /** Names what is followed: a directory, and others after it where they come in order. */
  #run = 0;
  #over = true;

  /** @param write Writes the reply to a request, whole, whatever becomes of it; must not throw. */
  constructor(
    tree: Tree,
    { pages, slots }: ListAheadMemory,
    write: (request: Request, page: Reply) => void,
  ) {
    this.#tree = tree;
    this.#pages = new PagesAhead(pages);
    this.#slots = new Int32Array(slots);
    this.#thread = Atomics.add(this.#slots, THREADS, 1) + 1;
    this.#write = write;
  }

  /** The reply to a READDIR or READDIRPLUS, if it is ready; {@linkcode free} gives it back. */
  take(request: Request): Reply | undefined {
    return this.#pages.take(request);
  }

  /** Gives back a page that was sent. */
  free(page: Reply): void {
    this.#pages.free(page);
  }

  /** Goes on where an answered listing ended; `wasReady` says whether its page had been taken from here. */
  follow(request: Request, resume: number, wasReady: boolean): void {
    if (request.listOffset === 0) this.#noteDirectory(request.node);
    if (!this.#isLister() || request.listSize > LARGEST_PAGE_AHEAD) return;
    if (!wasReady) {
      this.#next.copyList(request);
      this.#run = Atomics.add(this.#slots, RUNS, 1) + 1;
      this.#over = false;
      this.#advance(resume);
    }
    while (!this.#over && this.#pages.count(this.#run) < PAGES_READY) {
      const page = this.#pages.reserve(this.#run);
      if (page === undefined) return;
      this.#writePage(page);
    }
  }

  /** Lets another thread list ahead when this one ends. */
  resign(): void {
    Atomics.compareExchange(this.#slots, LISTER, this.#thread, 0);
  }

  #writePage(page: Reply): void {
    const next = this.#next;
    page.begin(0, 0);
    this.#write(next, page);
    if (page.errno !== 0) {
      this.#pages.free(page);
      this.#over = true;
      return;
    }
    const { resume } = page; // once published, the page is another thread's
    this.#pages.publish(page, next, this.#run);
    this.#advance(resume);
  }

  /** Finds what will be asked for after a page that ended so. */
  #advance(resume: number): void {
    const next = this.#next;
    if (resume !== 0) {
      next.listOffset = resume;
      return;
    }
    const neighbour = next.node + 1;
    this.#over = Atomics.load(this.#slots, WALKS) === 0 ||
      !this.#isDirectory(neighbour);
    if (this.#over) return;
    next.node = neighbour;
    next.listOffset = 0;
  }

  #isDirectory(node: number): boolean {
    try {
      return this.#tree.isDirectory(node);
    } catch {
      return false; // whoever asks for it will be told
    }
  }

  #noteDirectory(node: number): void {
    const slots = this.#slots;
    const last = Atomics.exchange(slots, LAST, node);
    if (last === (node | 0)) return; // listed again
    const isNeighbour = last !== 0 && last === (node - 1 | 0);
    Atomics.store(slots, WALKS, isNeighbour ? 1 : 0);
  }

  #isLister(): boolean {
    const lister = Atomics.load(this.#slots, LISTER);
    return lister === this.#thread || lister === 0 &&
        Atomics.compareExchange(this.#slots, LISTER, 0, this.#thread) === 0;
  }
}
