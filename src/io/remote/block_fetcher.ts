import { abortable } from "../concurrency/abortable.ts";
import {
  areAllBlocks,
  type BlockMap,
  blockOf,
  type BlockStore,
  CACHE_BLOCK,
} from "./cache/block_store.ts";
import type { RangeClaims } from "./cache/range_claims.ts";
import type { Client } from "./client.ts";
import { RangeInFlight } from "./range_in_flight.ts";
import { HeldBytes } from "./held_bytes.ts";
import { ReadAhead } from "./read_ahead.ts";
import { giveBack } from "./read_body.ts";
import { RemoteError } from "./remote_error.ts";
import { type ObjectState, readRange } from "./remote_object.ts";
import { claimFlight, takeKept } from "./shared_flight.ts";
import type { Target } from "./target.ts";
import { WaitCount } from "./retry/wait_count.ts";
import { missingBytes } from "./whole_object.ts";

/** Longest range per request in bytes; many requests are in flight at a time. */
export const LONGEST = 8 << 20;
/** Largest gap in bytes that is fetched to merge two requests. */
const GAP = 1 << 16;
/** Most bytes in flight from prefetch hints. */
const EXPECTED = 48 << 20;
/** Most bytes held in memory that were fetched but not stored. */
const HELD = 64 << 20;

/** How long to claim nothing after storing failed, in milliseconds, because others would wait for it in vain. */
const UNCLAIMED = 10_000;

interface Run {
  readonly first: number;
  readonly last: number;
  readonly waiting: WaitCount;
}

/** Fetches blocks of an object, each once for all who want it, and neighbours together. */
export class BlockFetcher {
  /** Returns when any program last stored a block of the object, in milliseconds since 1970; 0 if unknown. */
  readonly lastKept: () => number;
  readonly #client: Client;
  readonly #target: Target;
  readonly #state: ObjectState;
  readonly #store: BlockStore;
  readonly #claims: RangeClaims | undefined;
  #claimsFrom = -Infinity;
  readonly #fetchWhole: () => Promise<void>;
  /** Download of the whole object, if the server turned out not to support ranges. */
  #whole: Promise<void> | undefined;
  /** Fetched bytes that the store did not take. */
  readonly #held = new HeldBytes(HELD, ({ buffer }) => giveBack(buffer));
  readonly #closed = new AbortController();
  readonly #flights = new Set<RangeInFlight>();
  /** Ranges to request once all current callers have asked. */
  #wanted: Run[] = [];
  /** Total bytes requested so far. */
  #wantedBytes = 0;
  readonly #ahead = new ReadAhead();
  #keeps = true;
  /** Bytes in flight from prefetch hints. */
  #expected = 0;
  /** Blocks to mark when they arrive. */
  readonly #marks = new Set<number>();

  /**
   * @param claims Makes programs that share the store fetch each block once.
   * @param fetchWhole Downloads the whole object into the store.
   */
  constructor(
    client: Client,
    target: Target,
    state: ObjectState,
    store: BlockStore,
    claims: RangeClaims | undefined,
    fetchWhole: () => Promise<void>,
  ) {
    this.#client = client;
    this.#target = target;
    this.#state = state;
    this.#store = store;
    this.lastKept = () => store.lastKept();
    this.#claims = claims;
    this.#fetchWhole = fetchWhole;
  }

  get map(): BlockMap | undefined {
    return this.#store.map;
  }

  /** Stops storing what is fetched from now on, because it will not be read again. */
  keepNoMore(): void {
    this.#keeps = false;
    this.#held.dropsWhatIsRead = true;
  }

  /** Takes over whole blocks that were fetched elsewhere. */
  hold(start: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#held.take(start, bytes);
  }

  invalidate(offset: number, length: number): void {
    const [first, last] = [blockOf(offset), blockOf(offset + length - 1)];
    this.#store.invalidate(first, last);
    this.#held.invalidate(first, last);
  }

  /** Fetches a range that will be read soon. Returns `undefined` if it is cached. */
  fetch(offset: number, length: number): Promise<void> | undefined {
    if (areAllBlocks(offset, length, (block) => this.#has(block))) {
      return undefined;
    }
    this.#store.look(blockOf(offset), blockOf(offset + length - 1));
    const waiting = new WaitCount(offset, length);
    this.#needAll(waiting);
    waiting.release();
    return waiting.done;
  }

  /** Prefetches a range, unless enough hinted bytes are in flight. Returns whether it is cached or in flight. */
  prefetch(offset: number, length: number): boolean {
    if (this.#expected >= EXPECTED) return false;
    const before = this.#wantedBytes;
    const fetching = this.fetch(offset, length);
    const wanted = this.#wantedBytes - before;
    if (fetching === undefined) return true;
    this.#expected += wanted;
    const land = () => void (this.#expected -= wanted);
    fetching.then(land, land); // the read reports the error
    return true;
  }

  get missing(): number {
    return missingBytes(this.#store, this.#state.size);
  }

  /** Called when a marked block was read through the {@linkcode BlockMap}. */
  hasRead(block: number): void {
    this.#goAhead(block * CACHE_BLOCK, (block + 1) * CACHE_BLOCK);
  }

  /**
   * Reads a range of the object, which must lie inside it. If `isSequential`, access is sequential, and the next range may be
   * prefetched. Throws a RecordfsError if it cannot be fetched.
   */
  async read(
    into: Uint8Array,
    offset: number,
    signal: AbortSignal | undefined,
    isSequential = true,
  ): Promise<void> {
    signal?.throwIfAborted();
    if (isSequential) this.#goAhead(offset, offset + into.length);
    this.#store.look(blockOf(offset), blockOf(offset + into.length - 1));
    // Reads of the local disk need not hold up others.
    const isStored = (block: number) => this.#store.has(block);
    const isKept = areAllBlocks(offset, into.length, isStored);
    if (isKept && await this.#store.readLater(into, offset)) {
      this.#store.counts?.hit();
      return;
    }
    const waiting = new WaitCount(offset, into.length, into);
    this.#readWhatIsHere(waiting, into);
    this.#needAll(waiting);
    waiting.release();
    try {
      await abortable(waiting.done, signal);
    } finally {
      waiting.leave();
    }
  }

  close(): void {
    this.#closed.abort(new DOMException("It was closed", "AbortError"));
    this.#store.close();
    this.#claims?.close();
    this.#held.clear();
  }

  /** Reads what can be read without waiting, up to the first byte that cannot. */
  readNow(into: Uint8Array, offset: number): number {
    const got = this.#store.readCached(into, offset) ||
      this.#held.read(into, offset);
    // A partial read is not followed, because reading the rest would look like a sequential step.
    if (got < into.length) return got;
    this.#store.counts?.hit();
    this.#goAhead(offset, offset + got);
    return got;
  }

  #has(block: number): boolean {
    return this.#store.has(block) || this.#held.has(block);
  }

  #flightOver(offset: number): RangeInFlight | undefined {
    for (const flight of this.#flights) {
      if (flight.covers(offset)) return flight;
    }
    return undefined;
  }

  /** Copies cached parts. Blocks that turn out to be damaged are removed, and count as missing then. */
  #readWhatIsHere({ offset, end }: WaitCount, into: Uint8Array): void {
    for (let at = offset; at < end;) {
      const rest = into.subarray(at - offset);
      const got = this.#store.read(rest, at) || this.#held.read(rest, at);
      at = got > 0 ? at + got : (blockOf(at) + 1) * CACHE_BLOCK;
    }
  }

  /** Registers a waiter for all missing blocks of its range. */
  #needAll(waiting: WaitCount): void {
    const last = blockOf(waiting.end - 1);
    for (let block = blockOf(waiting.offset); block <= last; block++) {
      if (this.#has(block)) continue;
      const flight = this.#flightOver(block * CACHE_BLOCK);
      if (flight === undefined) {
        const first = block;
        while (block < last && this.#isMissing(block + 1)) block++;
        this.#want({ first, last: block, waiting });
      } else {
        flight.add(waiting);
        block = blockOf(flight.end - 1);
      }
    }
  }

  #isMissing(block: number): boolean {
    return !this.#has(block) &&
      this.#flightOver(block * CACHE_BLOCK) === undefined;
  }

  #want(run: Run): void {
    this.#wantedBytes += (run.last - run.first + 1) * CACHE_BLOCK;
    if (this.#wanted.length === 0) setImmediate(() => this.#askForWanted());
    this.#wanted.push(run);
    run.waiting.hold();
  }

  #askForWanted(): void {
    const runs = this.#wanted.sort((a, b) => a.first - b.first);
    this.#wanted = [];
    for (let i = 0; i < runs.length;) {
      const { first } = runs[i]!;
      let { last } = runs[i]!;
      const begin = i++;
      while (
        i < runs.length && (runs[i]!.first - last - 1) * CACHE_BLOCK <= GAP
      ) {
        last = Math.max(last, runs[i++]!.last);
      }
      const flights = this.#flightsFor(first, last);
      for (const { waiting } of runs.slice(begin, i)) {
        for (const flight of flights) {
          const isOf = flight.start < waiting.end &&
            flight.end > waiting.offset;
          if (isOf) flight.add(waiting);
        }
        waiting.release();
      }
      for (const flight of flights) this.#start(flight);
    }
  }

  /** Splits a range of blocks into requests. */
  #flightsFor(first: number, last: number): RangeInFlight[] {
    const end = Math.min((last + 1) * CACHE_BLOCK, this.#state.size);
    const flights: RangeInFlight[] = [];
    // Equal sizes, so that memory can be reused.
    for (let start = first * CACHE_BLOCK; start < end; start += LONGEST) {
      const flight = new RangeInFlight(start, Math.min(start + LONGEST, end));
      this.#flights.add(flight);
      flights.push(flight);
    }
    return flights;
  }

  #start(flight: RangeInFlight): void {
    this.#fly(flight).catch((error) => flight.fail(error))
      .finally(() => this.#flights.delete(flight));
  }

  async #fly(flight: RangeInFlight): Promise<void> {
    using _claim = await this.#claim(flight);
    try {
      if (this.#whole === undefined) return await this.#fetchRange(flight);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (error.code !== "no-ranges") throw error;
    }
    // Some servers support ranges only up to a length, or for some files.
    await (this.#whole ??= this.#fetchWhole().catch((error) => {
      this.#whole = undefined;
      throw error;
    }));
    takeKept(flight, this.#store);
    await this.#fetchRange(flight);
  }

  async #fetchRange(flight: RangeInFlight): Promise<void> {
    const { signal } = this.#closed;
    const { next: start, end } = flight;
    if (start > flight.start) {
      this.#tellMarked(blockOf(flight.start), blockOf(start - 1));
    }
    const length = end - start;
    if (length === 0) return;
    const { counts: counter } = this.#store;
    const begun = performance.now();
    await readRange(
      this.#client,
      this.#target,
      this.#state,
      { start, length },
      {
        get front() {
          return flight.front;
        },
        take: (piece) => {
          counter?.fetched(piece.length);
          const { start, bytes } = flight.take(piece);
          if (signal.aborted || bytes.length === 0) return false;
          return this.#takeOver(start, bytes);
        },
      },
      { signal, counter },
    );
    const ms = performance.now() - begun;
    this.#client.observer.fetched(this.#target.name, start, length, ms);
  }

  /** Claims a range, parts of which other programs may fetch. */
  async #claim(flight: RangeInFlight): Promise<Disposable | undefined> {
    const isOwn = performance.now() < this.#claimsFrom || !this.#keeps;
    if (isOwn || this.#claims === undefined) return undefined;
    const { signal } = this.#closed;
    const waiting = { signal, timeout: this.#client.timeout };
    return await claimFlight(flight, this.#claims, this.#store, waiting);
  }

  /** Stores whole blocks, and holds the rest in memory. Returns whether their memory was taken over. */
  #takeOver(start: number, bytes: Uint8Array<ArrayBuffer>): boolean {
    const kept = this.#keeps ? this.#store.keep(blockOf(start), bytes) : 0;
    const rest = bytes.subarray(kept);
    if (rest.length > 0) this.#claimsFrom = performance.now() + UNCLAIMED;
    // A small rest is copied, so that the whole buffer is not held.
    const isMost = 2 * rest.length >= rest.buffer.byteLength;
    if (rest.length > 0) {
      this.#held.take(start + kept, isMost ? rest : rest.slice());
    }
    this.#tellMarked(blockOf(start), blockOf(start + bytes.length - 1));
    return isMost;
  }

  #tellMarked(first: number, last: number): void {
    if (this.#marks.size === 0) return;
    for (let block = first; block <= last; block++) {
      if (this.#marks.delete(block)) this.#store.mark(block);
    }
  }

  /** Prefetches for sequential readers. */
  #goAhead(start: number, end: number): void {
    const span = this.#ahead.follow(start, end);
    if (span === undefined) return;
    // Reading the block half-way triggers the next prefetch, so that the reader never waits.
    const marked = blockOf((span.start + span.end) / 2);
    const until = Math.min(span.end, this.#state.size);
    if (span.start >= until) return;
    if (marked * CACHE_BLOCK < until) {
      if (this.#store.has(marked)) this.#store.mark(marked);
      else this.#marks.add(marked);
    }
    // The read reports the error.
    this.fetch(span.start, until - span.start)?.catch(() =>
      this.#marks.delete(marked)
    );
  }
}
