import { LARGEST_PAGE_AHEAD, PAGES_AHEAD } from "../limits.ts";
import { Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";

const FREE = 0;
/** Being written or sent by a thread. */
const TAKEN = 1;
/** Holds the reply to a future request. */
const READY = 2;

/** Fields of a ready page: the request it answers, where the next page starts, and its run. */
const OPCODE = 0;
const NODE = 1;
const OFFSET = 2;
const SIZE = 3;
const RESUME = 4;
const RUN = 5;
const FACTS = 6;

const PAGE_BYTES = REPLY_HEADER_SIZE + LARGEST_PAGE_AHEAD;
const STATES_BYTES = 8 * Math.ceil(PAGES_AHEAD / 2);
const FACTS_BYTES = 8 * FACTS * PAGES_AHEAD;

/**
 * Pages of listings written before the kernel requests them, in memory shared by all threads of a mount. The
 * kernel alternates between threads, so consecutive pages of a directory are seldom answered by the same thread.
 *
 * No thread ever waits for another: a thread that needs a page which is not ready writes it itself. A page held by
 * a thread that dies stays taken.
 */
export class PagesAhead {
  readonly memory: SharedArrayBuffer;
  readonly #states: Int32Array;
  readonly #facts: Float64Array;
  readonly #pages: readonly Reply[];

  constructor(
    memory = new SharedArrayBuffer(
      STATES_BYTES + FACTS_BYTES + PAGES_AHEAD * PAGE_BYTES,
    ),
  ) {
    this.memory = memory;
    this.#states = new Int32Array(memory, 0, PAGES_AHEAD);
    this.#facts = new Float64Array(memory, STATES_BYTES, FACTS * PAGES_AHEAD);
    const first = STATES_BYTES + FACTS_BYTES;
    this.#pages = Array.from(
      { length: PAGES_AHEAD },
      (_, i) =>
        new Reply(new Uint8Array(memory, first + i * PAGE_BYTES, PAGE_BYTES)),
    );
  }

  /** Returns the reply to a listing request, if ready. It belongs to the caller until freed. */
  take(request: Request): Reply | undefined {
    const states = this.#states;
    for (let i = 0; i < PAGES_AHEAD; i++) {
      if (Atomics.load(states, i) !== READY) continue;
      if (!this.#answers(i, request)) continue;
      if (Atomics.compareExchange(states, i, READY, TAKEN) !== READY) continue;
      if (this.#answers(i, request)) return this.#open(i, request);
      Atomics.store(states, i, READY); // it was replaced by another page meanwhile
    }
    return undefined;
  }

  count(run: number): number {
    let count = 0;
    for (let i = 0; i < PAGES_AHEAD; i++) {
      if (this.#isReadyIn(run, i)) count++;
    }
    return count;
  }

  /**
   * Reserves a page to write for a run: a free one, or one left by an earlier run. It belongs to the caller until
   * passed to {@linkcode publish} or {@linkcode free}.
   *
   * @returns `undefined` if all pages are in use.
   */
  reserve(run: number): Reply | undefined {
    for (let i = 0; i < PAGES_AHEAD; i++) {
      if (this.#isReadyIn(run, i)) continue;
      const state = Atomics.load(this.#states, i);
      if (
        state !== TAKEN &&
        Atomics.compareExchange(this.#states, i, state, TAKEN) === state
      ) return this.#pages[i];
    }
    return undefined;
  }

  /** Makes a written page available as the answer to its request. */
  publish(page: Reply, request: Request, run: number): void {
    const i = this.#pages.indexOf(page);
    const at = i * FACTS;
    this.#facts[at + OPCODE] = request.opcode;
    this.#facts[at + NODE] = request.node;
    this.#facts[at + OFFSET] = request.listOffset;
    this.#facts[at + SIZE] = request.listSize;
    this.#facts[at + RESUME] = page.resume;
    this.#facts[at + RUN] = run;
    Atomics.store(this.#states, i, READY);
  }

  free(page: Reply): void {
    Atomics.store(this.#states, this.#pages.indexOf(page), FREE);
  }

  #isReadyIn(run: number, page: number): boolean {
    return Atomics.load(this.#states, page) === READY &&
      this.#facts[page * FACTS + RUN] === run;
  }

  #answers(page: number, request: Request): boolean {
    const facts = this.#facts;
    const at = page * FACTS;
    return facts[at + OFFSET] === request.listOffset &&
      facts[at + NODE] === request.node &&
      facts[at + SIZE] === request.listSize &&
      facts[at + OPCODE] === request.opcode;
  }

  #open(i: number, request: Request): Reply {
    const page = this.#pages[i]!;
    page.reopen(request.uniqueLow, request.uniqueHigh);
    page.resume = this.#facts[i * FACTS + RESUME]!;
    return page;
  }
}
