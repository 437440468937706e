import { FormatError } from "../../base/errors.ts";
import { runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { fillNow, readPart } from "../read/read_part.ts";
import type { ByteSource, ReadOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import { mustWait } from "../storage/must_wait.ts";
import type { Compression } from "./compressions.ts";
import type { StreamIndexing } from "./stream_index.ts";

/** Decoded bytes before the front that are kept, besides the last piece. */
const RECENT = 8 << 20;
/** Sizes of files for which a declared size is taken: smaller ones are decoded in no time, and of larger ones it may be modulo 2^32. */
const LEAST = 1 << 20;
const MOST = 1 << 30;
/** Part of the encoded size that the decoded one has at least; random bytes grow a little. */
const LEAST_RATIO = 0.9;
/** From RFC 1952, 2.3: the size modulo 2^32 at the end of a member, and the flag of extra fields, which bgzip has. */
const GZIP_SIZE = 4;
const GZIP_FLAGS = 3;
const GZIP_EXTRA = 4;
/** From RFC 8878, 3.1.1.1: the longest header of a frame. */
const ZSTD_HEADER = 18;

/** A stream that turned out not to have its declared size, after it was read to its end. */
export class WrongSizeError extends FormatError {
  constructor(path: string, expected: number, actual: number) {
    super(
      "bad-structure",
      `Cannot decompress ${path}: it has ${actual} bytes and not ${expected}. Open it again`,
      { path, expected, actual },
    );
  }
}

/**
 * Returns the size that a stream has if it is a single member, as its header or its end says; `undefined` if that cannot be
 * told.
 */
export function* declaredSize(
  source: ByteSource,
  { name }: Compression,
): Steps<number | undefined> {
  if (source.size < LEAST || source.size > MOST) return undefined;
  const head = yield* readPart(source, 0, ZSTD_HEADER);
  let size: number | undefined;
  if (name === "zstd") size = frameSize(head);
  else if (name === "gzip" && (head[GZIP_FLAGS]! & GZIP_EXTRA) === 0) {
    const end = yield* readPart(source, source.size - GZIP_SIZE, GZIP_SIZE);
    size = new DataView(end.buffer, end.byteOffset).getUint32(0, true);
  }
  const isLikely = size !== undefined && size >= LEAST_RATIO * source.size &&
    Number.isSafeInteger(size);
  return isLikely ? size : undefined;
}

/** Reads the content size of a frame, if its header has it. */
function frameSize(head: Uint8Array): number | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  if (view.getUint32(0, true) !== 0xfd2fb528) return undefined;
  const descriptor = head[4]!;
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3]!;
  const at = 5 + (isSingle ? 0 : 1) + dictionary;
  switch (descriptor >> 6) {
    case 0:
      return isSingle ? view.getUint8(at) : undefined;
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

/**
 * A stream while it is decoded for the first time. It is read as far as decoding has come, or decodes further. Once it has
 * been decoded, reads go to the source that knows its parts.
 */
export class LiveSource implements MadeSource {
  readonly origin: ByteSource;
  readonly size: number;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly #indexing: StreamIndexing;
  readonly #settled: () => ByteSource;
  #inner: ByteSource | undefined;
  #failure: unknown;
  #recent: Uint8Array[] = [];
  #recentStart = 0;
  #isRunning = false;
  /** Serializes asynchronous reads. */
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * @param size Declared size.
   * @param settled Called at the end: makes the source that knows the parts, which closes the origin.
   */
  constructor(
    origin: ByteSource,
    size: number,
    indexing: StreamIndexing,
    settled: () => ByteSource,
  ) {
    this.origin = origin;
    this.size = size;
    this.#indexing = indexing;
    this.#settled = settled;
    if (origin.readAtSync) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
  }

  get name(): string {
    return this.origin.name;
  }

  get storedIn(): string {
    return this.origin.name;
  }

  get mtime(): number {
    return this.origin.mtime;
  }

  readCached(into: Uint8Array, offset: number): number {
    if (this.#inner !== undefined) {
      return this.#inner.readCached?.(into, offset) ?? 0;
    }
    return this.#copyRecent(this.#part(into, offset), offset);
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: ReadOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    if (this.#inner !== undefined) {
      return await this.#inner.readAt(into, offset, options);
    }
    // Not aborted half-way: the next read goes on where this one ends.
    const turn = this.#turn.then(() => runAsync(this.#read(into, offset)));
    this.#turn = turn.catch(() => {}); // the reader gets the error
    const got = await turn;
    options.signal?.throwIfAborted();
    return got;
  }

  prefetch(offset: number, length: number): boolean {
    return this.#inner?.prefetch?.(offset, length) ?? true;
  }

  /** Whether it was decoded to its end, and has its declared size. */
  get isSettled(): boolean {
    return this.#inner !== undefined && this.#failure === undefined;
  }

  /**
   * Decodes to the end.
   *
   * @throws {WrongSizeError} If the stream does not have its declared size.
   */
  *settle(): Steps<void> {
    yield* this.#advance(Infinity);
  }

  close(): void {
    this.#recent = [];
    if (this.#inner !== undefined) return this.#inner.close();
    this.#indexing.close();
    this.origin.close();
  }

  #readNow(into: Uint8Array, offset: number): number {
    if (this.#inner !== undefined) {
      return this.#inner.readAtSync!(into, offset);
    }
    return runSync(this.#read(into, offset));
  }

  #part(into: Uint8Array, offset: number): Uint8Array {
    return into.subarray(0, Math.max(0, this.size - offset));
  }

  *#read(into: Uint8Array, offset: number): Steps<number> {
    const wanted = this.#part(into, offset);
    for (let done = 0; done < wanted.length;) {
      const at = offset + done;
      const rest = wanted.subarray(done);
      if (this.#inner !== undefined) {
        yield* fillNow(this.#inner, rest, at);
        break;
      }
      const got = this.#copyRecent(rest, at);
      done += got;
      // What was decoded long ago is read once all parts are known.
      const isOld = at < this.#recentStart;
      if (got === 0) {
        yield* this.#advance(isOld ? Infinity : this.#indexing.size + 1);
      }
    }
    return wanted.length;
  }

  *#advance(end: number): Steps<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#inner !== undefined) return;
    if (this.#isRunning) throw mustWait(this.name); // an asynchronous read goes on
    const indexing = this.#indexing;
    this.#isRunning = true;
    try {
      while (indexing.size < end) {
        const piece = yield* indexing.next();
        if (piece === undefined) return this.#end();
        this.#keep(piece.slice());
      }
    } catch (error) {
      this.#failure = error;
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  #end(): void {
    const { size } = this.#indexing;
    this.#inner = this.#settled();
    this.#recent = [];
    if (size !== this.size) {
      throw new WrongSizeError(this.name, this.size, size);
    }
  }

  #keep(piece: Uint8Array): void {
    this.#recent.push(piece);
    const front = this.#indexing.size;
    while (
      this.#recent.length > 1 &&
      front - this.#recentStart - this.#recent[0]!.length > RECENT
    ) {
      this.#recentStart += this.#recent.shift()!.length;
    }
  }

  #copyRecent(into: Uint8Array, offset: number): number {
    let start = this.#recentStart;
    let done = 0;
    for (const piece of this.#recent) {
      const from = offset + done - start;
      if (from < 0) return done;
      if (from < piece.length && done < into.length) {
        const part = piece.subarray(from, from + into.length - done);
        into.set(part, done);
        done += part.length;
      }
      start += piece.length;
    }
    return done;
  }
}
