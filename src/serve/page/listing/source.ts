/** Data sources of listings, which cache only what is viewed. */
import { isAbort, isUnreachable, messageOf } from "../api.ts";
import { onServerBack } from "../server_state.ts";

export interface Source<T> {
  /** Number of items, as far as known. */
  readonly length: number;
  /** Whether there may be more than `length`. */
  readonly isGrowing: boolean;
  /** Error that left items missing. */
  readonly problem: string | null;
  at(index: number): T | undefined;
  want(first: number, end: number): void;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number | null;
  readonly hasMore: boolean;
}

/** Fetches the page of `limit` items from index `at` on. */
export type FetchPage<T> = (
  at: number,
  limit: number,
  signal: AbortSignal,
) => Promise<Page<T>>;

const MOST_PAGES = 200;

/** Delay before visible items are requested, so that fast scrolling skips them. */
const PAUSE_MS = 40;

/** Initial and maximum pause after a failed request; scrolling retries after it. */
const FAILED_MS = 1000;
const LONGEST_FAILED_MS = 30_000;

/** Interval of asking for the total while the server counts. */
const COUNTING_MS = 700;

/** Listing that is fetched page by page. */
export class PagedSource<T> implements Source<T> {
  length = 0;
  isGrowing = true;
  problem: string | null = null;
  /** Error, if the server did not respond. */
  unreachable: unknown;
  readonly #size: number;
  readonly #fetchPage: FetchPage<T>;
  readonly #onChange: () => void;
  readonly #closed: AbortSignal;
  /** By page number, in LRU order. */
  readonly #pages = new Map<number, readonly T[]>();
  readonly #asked = new Map<number, AbortController>();
  #wanted: readonly [number, number] = [0, 0];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of consecutive failures, and the end of the pause. */
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

/** Adds a value to an LRU cache, and evicts the oldest one if it is full. */
export function hold<Key, T>(
  held: Map<Key, T>,
  key: Key,
  value: T,
  most: number,
): void {
  held.delete(key); // moves it to the end
  held.set(key, value);
  const [oldest] = held.keys();
  if (held.size > most) held.delete(oldest!);
}

/** Items in memory, possibly still arriving. */
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
