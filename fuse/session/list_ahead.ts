import type { Tree } from "../../src/tree/tree.ts";
import { LARGEST_PAGE_AHEAD, PAGES_READY } from "../limits.ts";
import { PagesAhead } from "./pages_ahead.ts";
import type { Reply } from "../wire/reply.ts";
import { LIST_REQUEST_SIZE, Request } from "../wire/request.ts";

/** Memory that the threads of a mount share to list ahead; it can be sent by `postMessage`. */
export interface ListAheadMemory {
  readonly pages: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
}

/** Int32 slots of the shared memory. */
const THREADS = 0; // number of threads started so far
const LISTER = 1; // number of the thread that lists ahead, from 1; 0 for none
const LAST = 2; // last directory listed from its start, modulo 2^32
const WALKS = 3; // 1 if that directory directly followed the previous one
const RUNS = 4; // number of runs begun
const SLOTS = 5;

export function newListAheadMemory(): ListAheadMemory {
  return {
    pages: new PagesAhead().memory,
    slots: new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT),
  };
}

/**
 * Writes the next pages of a listing while the reader processes the last one. That takes the kernel far longer,
 * since it creates an inode per entry. After the last page of a directory comes the first page of the next
 * directory, if directories have been listed in that order.
 *
 * One thread does this for the whole mount, so that only one needs the code compiled. It gets to it every few
 * requests, so several pages are kept ready.
 */
export class ListAhead {
  readonly #tree: Tree;
  readonly #pages: PagesAhead;
  readonly #slots: Int32Array;
  readonly #thread: number;
  readonly #write: (request: Request, page: Reply) => void;
  /** Request for the page after the last one of this run. */
  readonly #next = new Request(new Uint8Array(LIST_REQUEST_SIZE));
  /** Number of the run: a directory being listed, and those after it if listed in order. */
  #run = 0;
  #over = true;

  /** @param write Writes the complete reply to a request, even on errors. Must not throw. */
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

  /** Returns the reply to a READDIR or READDIRPLUS, if ready. The caller releases it with {@linkcode free}. */
  take(request: Request): Reply | undefined {
    return this.#pages.take(request);
  }

  free(page: Reply): void {
    this.#pages.free(page);
  }

  /** Lists ahead from the end of an answered page. `wasReady` tells whether that page came from {@linkcode take}. */
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

  /** Lets another thread list ahead. Called when this one ends. */
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
    const { resume } = page; // once published, the page belongs to another thread
    this.#pages.publish(page, next, this.#run);
    this.#advance(resume);
  }

  /** Finds the request that will follow a page which ended at `resume`. */
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
      return false; // the error is reported when the directory is read
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
