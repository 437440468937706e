/** Things in a row, of which only those are held that are looked at. */
import { isAbort, isUnreachable, messageOf } from "../api.ts";
import { onServerBack } from "../server_state.ts";

/** What a listing shows. */
export interface Source<T> {
  /** How many there are, as far as that is known. */
  readonly length: number;
  /** Whether there may be more than `length`. */
  readonly isGrowing: boolean;
  /** Why some are missing. */
  readonly problem: string | null;
  /** One of them, where it is here. */
  at(index: number): T | undefined;
  /** Has those from `first` to below `end` brought here. */
  want(first: number, end: number): void;
}

/** Part of a listing. */
export interface Page<T> {
  readonly items: readonly T[];
  /** How many there are in all, where that is known. */
  readonly total: number | null;
  /** Whether there are more behind these. */
  readonly hasMore: boolean;
}

/** Asks for the page of `limit` things from index `at` on. */
export type FetchPage<T> = (
  at: number,
  limit: number,
  signal: AbortSignal,
) => Promise<Page<T>>;

/** How many pages are held. */
const MOST_PAGES = 200;

/** How long is waited before what came into view is asked for: who scrolls on does not want it. */
const PAUSE_MS = 40;

/** How long nothing is asked for when an answer has failed, at first and at most: whoever scrolls tries again. */
const FAILED_MS = 1000;
const LONGEST_FAILED_MS = 30_000;

/** How long until it is asked again how many there are, while the server counts. */
const COUNTING_MS = 700;

/** A listing that is asked for by pages. */
export class PagedSource<T> implements Source<T> {
  length = 0;
  isGrowing = true;
  problem: string | null = null;
  /** What went wrong, where the server does not answer. */
  unreachable: unknown;
  readonly #size: number;
  readonly #fetchPage: FetchPage<T>;
  readonly #onChange: () => void;
  readonly #closed: AbortSignal;
  /** By number; in the order of use. */
  readonly #pages = new Map<number, readonly T[]>();
  readonly #asked = new Map<number, AbortController>();
  #wanted: readonly [number, number] = [0, 0];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How many answers have failed, one after the other, and until when nothing is asked for. */
  #failed = 0;
  #restsUntil = 0;

  constructor(
    size: number,
    fetchPage: FetchPage<T>,
    onChange: () => void,
    closed: AbortSignal,
  ) {
    this.#size = size;
    this.#fetchPage = fetchPage;
    this.#onChange = onChange;
    this.#closed = closed;
    closed.addEventListener("abort", () => clearTimeout(this.#timer));
    onServerBack(() => {
      if (this.problem === null) return;
      this.#failed = 0;
      this.#restsUntil = 0;
      this.#askForWanted();
    }, closed);
  }

  at(index: number): T | undefined {
    const number = Math.floor(index / this.#size);
    return this.#pages.get(number)?.[index - number * this.#size];
  }

  /** Brings the page of an index, and says how many there are. */
  async load(index: number): Promise<void> {
    await this.#load(Math.floor(index / this.#size));
  }

  want(first: number, end: number): void {
    this.#wanted = [
      Math.floor(first / this.#size),
      Math.floor(Math.max(first, end - 1) / this.#size),
    ];
    const rest = this.#restsUntil - performance.now();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#askForWanted();
    }, Math.max(PAUSE_MS, rest));
  }

  #askForWanted(): void {
    const [first, last] = this.#wanted;
    for (const [number, controller] of this.#asked) {
      if (number < first - 1 || number > last + 1) controller.abort();
    }
    for (let number = first; number <= last; number++) {
      const held = this.#pages.get(number);
      if (held !== undefined) hold(this.#pages, number, held, MOST_PAGES);
      else if (!this.#asked.has(number)) {
        void this.#load(number);
      }
    }
  }

  async #load(number: number): Promise<void> {
    const controller = new AbortController();
    this.#asked.set(number, controller);
    const signal = AbortSignal.any([controller.signal, this.#closed]);
    try {
      const start = number * this.#size;
      const page = await this.#fetchPage(start, this.#size, signal);
      hold(this.#pages, number, page.items, MOST_PAGES);
      this.#count(page, start + page.items.length, number);
      this.problem = null;
      this.unreachable = undefined;
      this.#failed = 0;
    } catch (error) {
      if (isAbort(error)) return;
      this.problem = messageOf(error);
      this.unreachable = isUnreachable(error) ? error : undefined;
      const rest = Math.min(FAILED_MS * 2 ** this.#failed++, LONGEST_FAILED_MS);
      this.#restsUntil = performance.now() + rest;
    } finally {
      this.#asked.delete(number);
    }
    this.#onChange();
  }

  #count({ total, hasMore, items }: Page<T>, end: number, number: number) {
    this.length = total ??
      Math.max(this.length, items.length > 0 ? end + (hasMore ? 1 : 0) : 0);
    this.isGrowing = total === null && (hasMore || this.length > end);
    if (!this.isGrowing || this.#closed.aborted) return;
    setTimeout(() => {
      if (this.isGrowing && !this.#closed.aborted) void this.#load(number);
    }, COUNTING_MS);
  }
}

/** Adds a value to those that are held, in place of the oldest if there are too many. */
export function hold<Key, T>(
  held: Map<Key, T>,
  key: Key,
  value: T,
  most: number,
): void {
  held.delete(key); // to stand last: it is used
  held.set(key, value);
  const [oldest] = held.keys();
  if (held.size > most) held.delete(oldest!);
}

/** Things that are all here, or come one by one. */
export class ArraySource<T> implements Source<T> {
  isGrowing = true;
  problem: string | null = null;
  readonly items: T[] = [];

  get length(): number {
    return this.items.length;
  }

  at(index: number): T | undefined {
    return this.items[index];
  }

  want(): void {}
}
