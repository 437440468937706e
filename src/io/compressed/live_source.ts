import { viewOf } from "../../base/view_of.ts";
import { FormatError } from "../../base/errors.ts";
import { runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { fillNow, readPart } from "../read/read_part.ts";
import type { ByteSource, ReadOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import { mustWait } from "../storage/must_wait.ts";
import type { Compression } from "./compressions.ts";
import type { PartTable } from "./part_columns.ts";
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
  const view = viewOf(head);
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

/** A stream that is decoded for the first time. */
export interface LiveStream {
  readonly origin: ByteSource;
  /** Declared size. */
  readonly size: number;
  readonly indexing: StreamIndexing;
  /** Reads what the cache on the disk has of the part that began last. Returns the number of bytes read. */
  readonly fromDisk: (
    part: number,
    into: Uint8Array,
    offset: number,
  ) => number;
  /** Makes the source of the parts that have ended. */
  sourceOf(parts: PartTable): ByteSource;
  /** Called at the end: makes the source that knows all parts, which closes the origin. */
  settled(): ByteSource;
}

/**
 * A stream while it is decoded for the first time. It is read as far as decoding has come, or decodes further. Once it has
 * been decoded, reads go to the source that knows its parts.
 */
export class LiveSource implements MadeSource {
  readonly origin: ByteSource;
  readonly size: number;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly #stream: LiveStream;
  /** Knows the parts that have ended. */
  #ended: ByteSource | undefined;
  /** Knows all parts. */
  #inner: ByteSource | undefined;
  #failure: unknown;
  #recent: Uint8Array[] = [];
  #recentStart = 0;
  #isRunning = false;
  /** Serializes asynchronous reads. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(stream: LiveStream) {
    const { origin, size } = stream;
    this.origin = origin;
    this.size = size;
    this.#stream = stream;
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

  /** Frees the memory of decoding, if it has not ended and nobody reads: it goes on from the part that began last. */
  suspend(): void {
    if (this.#inner !== undefined || this.#isRunning) return;
    this.#restartPart();
  }

  close(): void {
    this.#recent = [];
    if (this.#inner !== undefined) return this.#inner.close();
    this.#stream.indexing.close();
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
      const got = this.#copyRecent(rest, at) ||
        (yield* this.#readOld(rest, at));
      done += got;
      const { size } = this.#stream.indexing;
      if (got > 0) continue;
      if (at < size) {
        if (this.#isRunning) throw mustWait(this.name);
        this.#restartPart();
      }
      yield* this.#advance(at < size ? at + 1 : size + 1);
    }
    return wanted.length;
  }

  /** Reads what was decoded long ago, if it is in parts that have ended, or on the disk. Returns the number of bytes read. */
  *#readOld(into: Uint8Array, offset: number): Steps<number> {
    const { indexing, fromDisk } = this.#stream;
    const { parts, size } = indexing;
    const { start, count } = parts;
    if (offset >= size) return 0;
    if (offset >= start) {
      const most = Math.min(size, this.#recentStart) - offset;
      return fromDisk(count, into.subarray(0, most), offset - start);
    }
    const old = into.subarray(0, start - offset);
    yield* fillNow(this.#ended ??= this.#stream.sourceOf(parts), old, offset);
    return old.length;
  }

  #restartPart(): void {
    const { indexing } = this.#stream;
    indexing.restartPart();
    this.#recent = [];
    this.#recentStart = indexing.size;
  }

  *#advance(end: number): Steps<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#inner !== undefined) return;
    if (this.#isRunning) throw mustWait(this.name); // an asynchronous read goes on
    const { indexing } = this.#stream;
    this.#isRunning = true;
    try {
      while (indexing.size < end) {
        const piece = yield* indexing.next();
        if (piece === undefined) return this.#end();
        this.#keep(piece.slice());
        if (indexing.size > this.size) {
          throw new WrongSizeError(this.name, this.size, indexing.size);
        }
      }
    } catch (error) {
      this.#failure = error;
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  #end(): void {
    const { size } = this.#stream.indexing;
    this.#inner = this.#stream.settled();
    this.#ended = undefined;
    this.#recent = [];
    if (size !== this.size) {
      throw new WrongSizeError(this.name, this.size, size);
    }
  }

  #keep(piece: Uint8Array): void {
    this.#recent.push(piece);
    const front = this.#stream.indexing.size;
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
