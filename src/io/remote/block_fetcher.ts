import { abortable } from "../concurrency/abortable.ts";
import {
  areAllBlocks,
  BLOCK,
  type BlockMap,
  blockOf,
  type BlockStore,
} from "./cache/block_store.ts";
import type { RangeClaims } from "./cache/range_claims.ts";
import type { Client } from "./client.ts";
import { Flight } from "./flight.ts";
import { HeldBytes } from "./held_bytes.ts";
import { ReadAhead } from "./read_ahead.ts";
import { giveBack } from "./read_body.ts";
import { RemoteError } from "./remote_error.ts";
import { type ObjectState, readRange } from "./remote_object.ts";
import { claimFlight, takeKept } from "./shared_flight.ts";
import type { Target } from "./target.ts";
import { Waiting } from "./waiting.ts";
import { missingBytes } from "./whole_object.ts";

/** Bytes of the longest range that is asked for: many are under way at a time. */
export const LONGEST = 8 << 20;
/** Bytes that are fetched though nobody wants them, to make one request of two. */
const GAP = 1 << 16;
/** Bytes that are fetched at a time because someone expects to read them. */
const EXPECTED = 48 << 20;
/** Bytes that were fetched and not kept, which stay in memory for those who will come for them. */
const HELD = 64 << 20;

/** How long nothing is claimed after something could not be kept, in milliseconds: others would wait for it in vain. */
const UNCLAIMED = 10_000;

/** Blocks that are not there, and who waits for them. */
interface Run {
  readonly first: number;
  readonly last: number;
  readonly waiting: Waiting;
}

/** Fetches blocks of an object: each once, for all who want it, neighbours together. */
export class BlockFetcher {
  /** Returns when any program last kept a block of the object, in milliseconds since 1970; 0 if that is unknown. */
  readonly lastKept: () => number;
  readonly #client: Client;
  readonly #target: Target;
  readonly #state: ObjectState;
  readonly #store: BlockStore;
  readonly #claims: RangeClaims | undefined;
  #claimsFrom = -Infinity;
  readonly #fetchWhole: () => Promise<void>;
  /** Where the server has turned out to give no ranges: until all is in the store. */
  #whole: Promise<void> | undefined;
  /** What the store has not kept. */
  readonly #held = new HeldBytes(HELD, ({ buffer }) => giveBack(buffer));
  readonly #closed = new AbortController();
  /** What is under way. */
  readonly #flights = new Set<Flight>();
  /** What is asked for when all who run now have asked. */
  #wanted: Run[] = [];
  /** How many bytes have been wanted so far. */
  #wantedBytes = 0;
  readonly #ahead = new ReadAhead();
  #keeps = true;
  /** Bytes under way that someone expects to read. */
  #expected = 0;
  /** Blocks that are to be marked when they have come. */
  readonly #marks = new Set<number>();

  /**
   * @param claims Has programs that keep blocks in the same store fetch each once.
   * @param fetchWhole Fetches all of the object into the store.
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

  /** The file that what was fetched is in, where there is one. */
  get map(): BlockMap | undefined {
    return this.#store.map;
  }

  /** What is fetched from now on is not kept: it will not be read again. */
  keepNoMore(): void {
    this.#keeps = false;
    this.#held.dropsWhatIsRead = true;
  }

  /** Takes over the first bytes of whole blocks from such a place on, which were fetched otherwise. */
  hold(start: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#held.take(start, bytes);
  }

  /** Invalidates what is cached of a range, so that the next read fetches it. */
  invalidate(offset: number, length: number): void {
    const [first, last] = [blockOf(offset), blockOf(offset + length - 1)];
    this.#store.invalidate(first, last);
    this.#held.invalidate(first, last);
  }

  /**
   * Fetches a part that will be read soon.
   *
   * @returns `undefined` where it is there.
   */
  fetch(offset: number, length: number): Promise<void> | undefined {
    if (areAllBlocks(offset, length, (block) => this.#has(block))) {
      return undefined;
    }
    this.#store.look(blockOf(offset), blockOf(offset + length - 1));
    const waiting = new Waiting(offset, length);
    this.#needAll(waiting);
    waiting.release();
    return waiting.done;
  }

  /**
   * Fetches a part that someone expects to read, unless enough of that kind is under way.
   *
   * @returns Whether it is there, or under way.
   */
  expect(offset: number, length: number): boolean {
    if (this.#expected >= EXPECTED) return false;
    const before = this.#wantedBytes;
    const fetching = this.fetch(offset, length);
    const wanted = this.#wantedBytes - before;
    if (fetching === undefined) return true;
    this.#expected += wanted;
    const land = () => void (this.#expected -= wanted);
    fetching.then(land, land); // who reads it is told what is wrong
    return true;
  }

  /** Bytes of the object that are not kept. */
  get missing(): number {
    return missingBytes(this.#store, this.#state.size);
  }

  /** Hears that a marked block was read by the {@linkcode BlockMap}. */
  hasRead(block: number): void {
    this.#goAhead(block * BLOCK, (block + 1) * BLOCK);
  }

  /**
   * Reads a part of the object, which it has.
   *
   * @param goesOn Whether what lies behind may be fetched ahead.
   * @throws {RecordfsError} If it can't be fetched.
   */
  async read(
    into: Uint8Array,
    offset: number,
    signal: AbortSignal | undefined,
    goesOn = true,
  ): Promise<void> {
    signal?.throwIfAborted();
    if (goesOn) this.#goAhead(offset, offset + into.length);
    this.#store.look(blockOf(offset), blockOf(offset + into.length - 1));
    // What lies on this machine's disk need not hold up the others.
    const isStored = (block: number) => this.#store.has(block);
    const isKept = areAllBlocks(offset, into.length, isStored);
    if (isKept && await this.#store.readLater(into, offset)) {
      this.#store.counts?.hit();
      return;
    }
    const waiting = new Waiting(offset, into.length, into);
    this.#readWhatIsHere(waiting, into);
    this.#needAll(waiting);
    waiting.release();
    try {
      await abortable(waiting.done, signal);
    } finally {
      waiting.leave();
    }
  }

  /** Gives up what is under way. */
  close(): void {
    this.#closed.abort(new DOMException("It was closed", "AbortError"));
    this.#store.close();
    this.#claims?.close();
    this.#held.clear();
  }

  /** Reads what has been fetched, and needs no waiting: up to the first byte that has not, or does. */
  readNow(into: Uint8Array, offset: number): number {
    const got = this.#store.readCached(into, offset) ||
      this.#held.read(into, offset);
    // Where it is less, whoever reads the rest is no reader that goes on.
    if (got < into.length) return got;
    this.#store.counts?.hit();
    this.#goAhead(offset, offset + got);
    return got;
  }

  #has(block: number): boolean {
    return this.#store.has(block) || this.#held.has(block);
  }

  #flightOver(offset: number): Flight | undefined {
    for (const flight of this.#flights) {
      if (flight.covers(offset)) return flight;
    }
    return undefined;
  }

  /** Fills in what is there; what turns out to be damaged is forgotten, and not there any more. */
  #readWhatIsHere({ offset, end }: Waiting, into: Uint8Array): void {
    for (let at = offset; at < end;) {
      const rest = into.subarray(at - offset);
      const got = this.#store.read(rest, at) || this.#held.read(rest, at);
      at = got > 0 ? at + got : (blockOf(at) + 1) * BLOCK;
    }
  }

  /** Has someone wait for all blocks of a part that are not there. */
  #needAll(waiting: Waiting): void {
    const last = blockOf(waiting.end - 1);
    for (let block = blockOf(waiting.offset); block <= last; block++) {
      if (this.#has(block)) continue;
      const flight = this.#flightOver(block * BLOCK);
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
    return !this.#has(block) && this.#flightOver(block * BLOCK) === undefined;
  }

  #want(run: Run): void {
    this.#wantedBytes += (run.last - run.first + 1) * BLOCK;
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
      while (i < runs.length && (runs[i]!.first - last - 1) * BLOCK <= GAP) {
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

  /** Ranges of blocks that lie one behind the other. */
  #flightsFor(first: number, last: number): Flight[] {
    const end = Math.min((last + 1) * BLOCK, this.#state.size);
    const flights: Flight[] = [];
    // As many as it takes, of one size: that of memory which is used again.
    for (let start = first * BLOCK; start < end; start += LONGEST) {
      const flight = new Flight(start, Math.min(start + LONGEST, end));
      this.#flights.add(flight);
      flights.push(flight);
    }
    return flights;
  }

  #start(flight: Flight): void {
    this.#fly(flight).catch((error) => flight.fail(error))
      .finally(() => this.#flights.delete(flight));
  }

  async #fly(flight: Flight): Promise<void> {
    using _claim = await this.#claim(flight);
    try {
      if (this.#whole === undefined) return await this.#fetchRange(flight);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (error.code !== "no-ranges") throw error;
    }
    // Some servers give ranges up to a length, or of some files.
    await (this.#whole ??= this.#fetchWhole().catch((error) => {
      this.#whole = undefined;
      throw error;
    }));
    takeKept(flight, this.#store);
    await this.#fetchRange(flight);
  }

  async #fetchRange(flight: Flight): Promise<void> {
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

  /** Claims a range, of which others may fetch some. */
  async #claim(flight: Flight): Promise<Disposable | undefined> {
    const isOwn = performance.now() < this.#claimsFrom || !this.#keeps;
    if (isOwn || this.#claims === undefined) return undefined;
    const { signal } = this.#closed;
    const waiting = { signal, timeout: this.#client.timeout };
    return await claimFlight(flight, this.#claims, this.#store, waiting);
  }

  /**
   * Keeps whole blocks, and holds those in memory for which there is no room.
   *
   * @returns Whether their memory is needed for that.
   */
  #takeOver(start: number, bytes: Uint8Array<ArrayBuffer>): boolean {
    const kept = this.#keeps ? this.#store.keep(blockOf(start), bytes) : 0;
    const rest = bytes.subarray(kept);
    if (rest.length > 0) this.#claimsFrom = performance.now() + UNCLAIMED;
    // Of a little, not all that there was room for.
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

  /** Fetches ahead of readers that go from front to back. */
  #goAhead(start: number, end: number): void {
    const span = this.#ahead.follow(start, end);
    if (span === undefined) return;
    // Half-way there the next ones are fetched, so that a reader need never wait.
    const marked = blockOf((span.start + span.end) / 2);
    const until = Math.min(span.end, this.#state.size);
    if (span.start >= until) return;
    if (marked * BLOCK < until) {
      if (this.#store.has(marked)) this.#store.mark(marked);
      else this.#marks.add(marked);
    }
    // Who reads it is told of what fails.
    this.fetch(span.start, until - span.start)?.catch(() =>
      this.#marks.delete(marked)
    );
  }
}
