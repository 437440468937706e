import type { SourceList } from "../storage/byte_source.ts";
import { type ChecksumOf, checksumOf } from "../checksums/checksum.ts";
import { shouldYield, yieldToEventLoop } from "../concurrency/event_loop.ts";
import {
  ConcurrencyLimit,
  READS_IN_FLIGHT,
} from "../concurrency/concurrency_limit.ts";
import { fillAsync, fillSync, PIECE } from "./read_part.ts";
import {
  type GrowingMemory,
  placesIn,
  RunRoom,
  SharedRoom,
} from "./read_memory.ts";
import { orderOf, runsOf, type Slice, type SliceRun } from "./slice_runs.ts";
import { perform, type Steps } from "../concurrency/steps.ts";

/** Bytes, or small reads, between looks at the clock, which takes time itself. */
const STRIDE_BYTES = 64 * 1024;
const STRIDE = 8;

/** Called with the checksum of each slice that has one, as soon as it is read. May throw to stop reading. */
export type Verify = (index: number, crc: number) => void;

/** Memory to read into, in which overlapping slices share their common bytes; or one buffer per slice. */
export type ReadInto =
  | GrowingMemory
  | RunRoom
  | SharedRoom
  | readonly Uint8Array<ArrayBuffer>[];

/**
 * Reads many slices in storage order, combining small neighbours into one read.
 *
 * @param slices Ranges inside their sources' sizes, in any order; repeats are allowed.
 * @param verify Compares checksums. Without it, none are computed.
 * @returns The bytes of each slice, in the order of `slices`.
 */
export function readSlices(
  sources: SourceList,
  slices: readonly Slice[],
  verify?: Verify,
  into?: ReadInto,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const reading = new Reading(sources, slices, verify, into);
  return perform({
    sync: () => reading.sync(),
    async: (signal) => reading.async(signal),
  });
}

/**
 * Memory for reading several slices together, if these have buffers of their own. As large as the longest read so far,
 * because new memory would have to be cleared.
 */
let scratch: Uint8Array<ArrayBuffer> | undefined;

class Reading {
  readonly #sources: SourceList;
  readonly #slices: readonly Slice[];
  readonly #verify: Verify | undefined;
  readonly #memory: GrowingMemory | undefined;
  readonly #places: readonly Uint8Array<ArrayBuffer>[] | undefined;
  /** Memory of the runs, in which slices stay. */
  readonly #rooms: readonly Uint8Array<ArrayBuffer>[] | undefined;
  readonly #order: Uint32Array;
  readonly #runs: readonly SliceRun[];
  readonly #result: Uint8Array<ArrayBuffer>[];
  #failure: { readonly at: number; readonly error: unknown } | undefined;

  constructor(
    sources: SourceList,
    slices: readonly Slice[],
    verify: Verify | undefined,
    into: ReadInto | undefined,
  ) {
    this.#sources = sources;
    this.#slices = slices;
    this.#verify = verify;
    this.#order = orderOf(slices);
    const limits = into instanceof RunRoom ? into.limits : undefined;
    this.#runs = runsOf(slices, this.#order, limits);
    if (into instanceof SharedRoom || into instanceof RunRoom) {
      this.#rooms = placesIn(into, this.#runs);
    } else if (into !== undefined && "take" in into) this.#memory = into;
    else this.#places = into;
    this.#result = new Array(slices.length);
  }

  sync(): Uint8Array<ArrayBuffer>[] {
    for (const [i, run] of this.#runs.entries()) this.#readNow(run, i);
    return this.#result;
  }

  /** Reads cached runs at once, while waiting for the others. */
  async async(signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>[]> {
    const flight = new ConcurrencyLimit(READS_IN_FLIGHT);
    this.#prefetch();
    let began = 0;
    try {
      let unwatched = STRIDE_BYTES;
      for (const run of this.#runs) {
        began++;
        if (unwatched >= STRIDE_BYTES) {
          while (shouldYield()) await yieldToEventLoop();
          unwatched = 0;
        }
        signal?.throwIfAborted();
        if (flight.failed) break;
        unwatched += Math.max(run.length, STRIDE_BYTES / STRIDE);
        const bytes = this.#room(run, began - 1);
        const tried = this.#readCached(run, bytes);
        if (tried === run.length) continue;
        await flight.room();
        if (flight.failed) break;
        const at = began;
        const read = this.#readLater(run, bytes, tried, signal);
        flight.add(read.catch((error) => this.#fail(at, error)));
      }
    } catch (error) {
      // Reads in flight end first.
      flight.add(Promise.resolve().then(() => this.#fail(began, error)));
    }
    try {
      await flight.end();
    } catch (error) {
      throw this.#failure?.error ?? error;
    }
    return this.#result;
  }

  /** Keeps the failure that is first in reading order, as a read without waiting would report. */
  #fail(at: number, error: unknown): never {
    if (this.#failure === undefined || at < this.#failure.at) {
      this.#failure = { at, error };
    }
    throw error;
  }

  /** Hints all ranges to sources that can prefetch. */
  #prefetch(): void {
    if (this.#runs.length < 2) return;
    // If a container's first file is local, so are all; do not open them for this.
    if (this.#sources.at(this.#runs[0]!.source)?.prefetch === undefined) return;
    for (const { source, offset, length } of this.#runs) {
      if (length > 0) this.#sources.at(source)!.prefetch?.(offset, length);
    }
  }

  #readNow(run: SliceRun, i: number): void {
    const bytes = this.#room(run, i);
    const source = this.#sources.at(run.source)!;
    this.#keep(
      run,
      bytes,
      fillSync(source, bytes, run.offset, this.#sum(run)),
    );
  }

  #room(
    { length, count, first }: SliceRun,
    i: number,
  ): Uint8Array<ArrayBuffer> {
    if (this.#rooms !== undefined) return this.#rooms[i]!;
    if (this.#places === undefined) {
      return this.#memory?.takeMore(length) ?? new Uint8Array(length);
    }
    if (count === 1) return this.#places[this.#order[first]!]!;
    if (scratch === undefined || scratch.length < length) {
      return new Uint8Array(length);
    }
    const bytes = scratch.subarray(0, length);
    scratch = undefined; // the next run may be read at the same time
    return bytes;
  }

  /** Reads a run from the source's cache and finishes it if it is complete. Returns the number of bytes read. */
  #readCached(
    run: SliceRun,
    bytes: Uint8Array<ArrayBuffer>,
  ): number | undefined {
    if (run.length > PIECE) return undefined;
    const source = this.#sources.at(run.source)!;
    const got = run.length === 0
      ? 0
      : source.readCached?.(bytes, run.offset) ?? 0;
    if (got === run.length) {
      const sum = this.#sum(run);
      this.#keep(run, bytes, sum === false ? 0 : sum(bytes));
    }
    return got;
  }

  async #readLater(
    run: SliceRun,
    bytes: Uint8Array<ArrayBuffer>,
    tried: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const source = this.#sources.at(run.source)!;
    const crc = await fillAsync(
      source,
      bytes,
      run.offset,
      this.#sum(run),
      signal,
      tried,
    );
    this.#keep(run, bytes, crc);
  }

  /** Returns the checksum function of a run that has a single slice. */
  #sum({ count, first }: SliceRun): ChecksumOf | false {
    if (count > 1 || this.#verify === undefined) return false;
    const { checksumKind } = this.#slices[this.#order[first]!]!;
    return checksumKind !== undefined && checksumOf(checksumKind);
  }

  /** Distributes the bytes of a run to its slices. */
  #keep(run: SliceRun, bytes: Uint8Array<ArrayBuffer>, crc: number): void {
    if (run.count === 1) {
      const index = this.#order[run.first]!;
      if (this.#slices[index]!.checksumKind !== undefined) {
        this.#verify?.(index, crc);
      }
      this.#result[index] = bytes;
      return;
    }
    for (let i = run.first; i < run.first + run.count; i++) {
      const index = this.#order[i]!;
      const { offset, length, checksumKind } = this.#slices[index]!;
      const from = offset - run.offset;
      const slice = this.#place(index, bytes, from, from + length);
      if (checksumKind !== undefined) {
        this.#verify?.(index, checksumOf(checksumKind)(slice));
      }
      this.#result[index] = slice;
    }
    if (this.#places === undefined) return;
    if (bytes.buffer.byteLength > (scratch?.length ?? 0)) {
      scratch = new Uint8Array(bytes.buffer);
    }
  }

  /** Returns the bytes of one slice of a run, copied to its buffer if needed. */
  #place(
    index: number,
    bytes: Uint8Array<ArrayBuffer>,
    start: number,
    end: number,
  ): Uint8Array<ArrayBuffer> {
    if (this.#memory !== undefined || this.#rooms !== undefined) {
      return bytes.subarray(start, end);
    }
    const place = this.#places?.[index];
    if (place === undefined) return bytes.slice(start, end);
    place.set(bytes.subarray(start, end));
    return place;
  }
}
