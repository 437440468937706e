import { abortable } from "../concurrency/abortable.ts";
import {
  BLOCK,
  type BlockMap,
  blockOf,
  type BlockStore,
} from "./cache/block_store.ts";
import type { Client } from "./client.ts";
import { type ObjectState, readRange } from "./remote_object.ts";
import type { Target } from "./target.ts";

/** Bytes of the longest range that is asked for: many are under way at a time. */
const LONGEST = 8 << 20;
/** Blocks that are fetched though nobody wants them, to make one request of two. */
const GAP = 1;
/** Bytes that are fetched ahead of a reader at first, and at most. */
const FIRST_AHEAD = 1 << 18;
const MOST_AHEAD = 32 << 20;
/** Pieces of an object that are fetched at a time where all of it is. */
const FILLING = 4;
/** Readers whose places are remembered. */
const MOST_READERS = 16;

/** Blocks that were fetched with others, until all who wait for them have them. */
interface Fetched {
  readonly first: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A reader that goes from front to back. */
interface Reader {
  /** Where it is, and up to where was fetched ahead of it. */
  at: number;
  ahead: number;
  window: number;
}

/** Fetches blocks of an object: each once, for all who want it, neighbours together. */
export class BlockFetcher {
  readonly #client: Client;
  readonly #target: Target;
  readonly #state: ObjectState;
  readonly #store: BlockStore;
  readonly #closed = new AbortController();
  /** What is under way, by block. */
  readonly #flight = new Map<number, Promise<Fetched>>();
  /** What is asked for when all who run now have asked. */
  readonly #wanted = new Map<number, PromiseWithResolvers<Fetched>>();
  readonly #readers: Reader[] = [];
  /** Blocks that are to be marked when they have come. */
  readonly #marks = new Set<number>();

  constructor(
    client: Client,
    target: Target,
    state: ObjectState,
    store: BlockStore,
  ) {
    this.#client = client;
    this.#target = target;
    this.#state = state;
    this.#store = store;
  }

  /** The file that what was fetched is in, where there is one. */
  get map(): BlockMap | undefined {
    return this.#store.map;
  }

  /** Fetches a part again when it is read again: what was kept of it is wrong. */
  forget(offset: number, length: number): void {
    this.#store.forget(blockOf(offset), blockOf(offset + length - 1));
  }

  /**
   * Fetches a part that will be read soon.
   *
   * @returns `undefined` where it is there.
   */
  fetch(offset: number, length: number): Promise<unknown> | undefined {
    const missing: Promise<Fetched>[] = [];
    const last = blockOf(offset + length - 1);
    for (let block = blockOf(offset); block <= last; block++) {
      if (!this.#store.has(block)) missing.push(this.#need(block));
    }
    return missing.length === 0 ? undefined : Promise.all(missing);
  }

  /**
   * Fetches what is not there yet, to be kept.
   *
   * @param onProgress Told how many bytes more are there, by and by.
   * @returns How many bytes could not be kept.
   */
  async fill(
    onProgress: (bytes: number) => void,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const { size } = this.#state;
    let next = 0;
    const fillSome = async () => {
      const memory = new Uint8Array(LONGEST);
      while (next < size) {
        const piece = memory.subarray(0, size - next);
        const offset = next;
        next += piece.length;
        if (!this.#hasAll(offset, piece.length)) {
          await this.read(piece, offset, signal);
        }
        onProgress(piece.length);
      }
    };
    await Promise.all(Array.from({ length: FILLING }, fillSome));
    let missing = 0;
    for (let start = 0; start < size; start += BLOCK) {
      if (this.#store.has(blockOf(start))) continue;
      missing += Math.min(BLOCK, size - start);
    }
    return missing;
  }

  #hasAll(offset: number, length: number): boolean {
    const last = blockOf(offset + length - 1);
    for (let block = blockOf(offset); block <= last; block++) {
      if (!this.#store.has(block)) return false;
    }
    return true;
  }

  /** Hears that a marked block was read by the {@linkcode BlockMap}. */
  hasRead(block: number): void {
    this.#goAhead(block * BLOCK, (block + 1) * BLOCK);
  }

  /** Reads a part of the object, which it has. */
  async read(
    into: Uint8Array,
    offset: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const first = blockOf(offset);
    const last = blockOf(offset + into.length - 1);
    const missing: Promise<Fetched>[] = [];
    for (let block = first; block <= last; block++) {
      if (!this.#store.has(block)) missing.push(this.#need(block));
    }
    this.#goAhead(offset, offset + into.length);
    const all = await abortable(Promise.all(missing), signal);
    const fetched = [...new Set(all)];
    for (const { first: start, bytes } of fetched) {
      const from = start * BLOCK;
      const begin = Math.max(from, offset);
      const end = Math.min(from + bytes.length, offset + into.length);
      if (begin >= end) continue;
      into.set(bytes.subarray(begin - from, end - from), begin - offset);
    }
    // The others are in the store, unless they have just been found damaged there.
    let missed = false;
    for (let block = first; block <= last; block++) {
      if (fetched.some((one) => holds(one, block))) continue;
      const start = Math.max(block * BLOCK, offset);
      const end = Math.min((block + 1) * BLOCK, offset + into.length);
      const part = into.subarray(start - offset, end - offset);
      if (this.#store.read(part, start) < part.length) missed = true;
    }
    if (missed) await this.read(into, offset, signal);
  }

  /** Gives up what is under way. */
  close(): void {
    this.#closed.abort(new DOMException("It was closed", "AbortError"));
    this.#store.close();
  }

  /** Reads what has been fetched: up to the first byte that has not. */
  readNow(into: Uint8Array, offset: number): number {
    const got = this.#store.read(into, offset);
    if (got > 0) this.#goAhead(offset, offset + got);
    return got;
  }

  #need(block: number): Promise<Fetched> {
    const under = this.#flight.get(block) ?? this.#wanted.get(block)?.promise;
    if (under !== undefined) return under;
    if (this.#wanted.size === 0) {
      setImmediate(() => this.#askForWanted());
    }
    const wanted = Promise.withResolvers<Fetched>();
    wanted.promise.catch(() => {});
    this.#wanted.set(block, wanted);
    return wanted.promise;
  }

  #askForWanted(): void {
    const wanted = new Map(this.#wanted);
    this.#wanted.clear();
    const blocks = [...wanted.keys()].sort((a, b) => a - b);
    for (let i = 0; i < blocks.length;) {
      const first = blocks[i]!;
      let last = first;
      const waiting: PromiseWithResolvers<Fetched>[] = [];
      while (
        i < blocks.length && blocks[i]! - last <= 1 + GAP &&
        (blocks[i]! - first + 1) * BLOCK <= LONGEST
      ) {
        last = blocks[i]!;
        waiting.push(wanted.get(last)!);
        i++;
      }
      const fetching = this.#fetchBlocks(first, last);
      for (let block = first; block <= last; block++) {
        if (!this.#flight.has(block)) this.#flight.set(block, fetching);
      }
      const land = () => {
        for (let block = first; block <= last; block++) {
          if (this.#flight.get(block) === fetching) this.#flight.delete(block);
        }
      };
      fetching.then(land, land);
      for (const one of waiting) fetching.then(one.resolve, one.reject);
    }
  }

  async #fetchBlocks(first: number, last: number): Promise<Fetched> {
    const start = first * BLOCK;
    const length = Math.min((last + 1) * BLOCK, this.#state.size) - start;
    const bytes = new Uint8Array(length);
    const { signal } = this.#closed;
    const begun = performance.now();
    await readRange(this.#client, this.#target, this.#state, bytes, start, {
      signal,
    });
    const ms = performance.now() - begun;
    this.#client.observer?.fetched(this.#target.name, start, length, ms);
    if (!signal.aborted) {
      this.#store.keep(first, bytes);
      for (let block = first; block <= last; block++) {
        if (this.#marks.delete(block)) this.#store.mark(block);
      }
    }
    return { first, bytes };
  }

  /** Fetches further ahead of a reader the longer it goes on from front to back. */
  #goAhead(start: number, end: number): void {
    const found = this.#readers.findIndex(({ at, ahead }) =>
      start >= at && start <= ahead
    );
    const reader = found < 0
      ? { at: start, ahead: end, window: 0 }
      : this.#readers.splice(found, 1)[0]!;
    this.#readers.push(reader);
    if (this.#readers.length > MOST_READERS) this.#readers.shift();
    reader.at = end;
    if (found < 0) return;
    reader.window = Math.min(
      Math.max(FIRST_AHEAD, 2 * reader.window),
      MOST_AHEAD,
    );
    const from = Math.max(reader.ahead, end);
    const until = end + reader.window;
    if (until - from < reader.window / 2) return; // a request for each block would be many
    reader.ahead = until;
    const size = Math.min(until, this.#state.size);
    // Half-way there the next ones are fetched, so that a reader need never wait.
    const marked = blockOf((from + until) / 2);
    for (let block = blockOf(from); block * BLOCK < size; block++) {
      if (this.#store.has(block)) {
        if (block === marked) this.#store.mark(block);
        continue;
      }
      if (block === marked) this.#marks.add(block);
      this.#need(block).catch(() => this.#marks.delete(block)); // who reads it is told
    }
  }
}

function holds({ first, bytes }: Fetched, block: number): boolean {
  return block >= first && (block - first) * BLOCK < bytes.length;
}
