import { FormatError } from "../../base/errors.ts";
import {
  DECODED_BLOCK,
  type DecodedBlocks,
} from "../block_cache/decoded_blocks.ts";
import { mostAtOnce } from "../block_cache/decoded_source.ts";
import type { DecodeFault } from "../block_cache/inflate.ts";
import { runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { cacheLocation } from "../index_cache/cache_location.ts";
import { cacheIndex, keptIndex } from "../index_cache/cached_index.ts";
import { fill } from "../read/read_part.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource, WaitOptions } from "../storage/byte_source.ts";
import type { MadeSource } from "../storage/made_source.ts";
import { PartSource } from "../storage/part_source.ts";
import type { DecompressedSource } from "./decompressed_source.ts";
import { type LiveSource, WrongSizeError } from "./live_source.ts";
import { CachedParts, stateOf } from "./long_parts.ts";
import type { Method } from "./methods.ts";
import {
  cachedStreamIndex,
  decompressedSource,
  liveSource,
  type OpenStream,
  STREAM_KIND,
} from "./open_stream.ts";
import { isPushDecoderLoaded } from "./push_decoder.ts";

/** Most sources of a thread that are in the middle of decoding, and most that hold an index. */
const MOST_RUNNING = 4;
const MOST_OPEN = 32;
/** Most parts of a source: each holds up to 32 KiB of what precedes it. */
const MOST_PARTS = 1024;

/** A large content of a container, which is a range of a file. */
export interface LargeContent {
  readonly file: ByteSource;
  /** Name of the content, for messages. */
  readonly name: string;
  /** Encoded size in bytes. */
  readonly packed: number;
  /** Decoded size in bytes, as declared by its container. */
  readonly size: number;
  readonly mtime: number;
  readonly method: Method;
  readonly fault: DecodeFault;
  /** Finds the first byte of the range. */
  locate(): Steps<number>;
  readonly prefetch?: (() => boolean) | undefined;
  readonly invalidate?: (() => void) | undefined;
}

/** Where what is decoded, and where it can be, is cached. */
export interface LargeContentCaches {
  readonly blocks: DecodedBlocks;
  /** Numbers of the container in the cache of blocks, and of the content in it. */
  readonly owner: number;
  readonly number: number;
  readonly remote: Pick<RemoteOptions, "cache"> | undefined;
}

/** Whether contents can be decoded in parts here: some decoders must have been loaded. */
export function isInParts({ needsPushDecoder }: Method): boolean {
  return !needsPushDecoder || isPushDecoderLoaded();
}

/** This thread's sources, in order of use: those that decode, and those that hold anything. */
const running = new Set<LargeSource>();
const open = new Set<LargeSource>();

/**
 * Source of a large encoded content. The first time, it is decoded up to where it is read, and checkpoints are noted. From
 * then on, a read decodes the part that it lies in. The index is cached when all is decoded.
 */
export class LargeSource implements MadeSource {
  readonly #content: LargeContent;
  readonly #caches: LargeContentCaches;
  #source: DecompressedSource | LiveSource | undefined;
  /** Asynchronous reads under way. */
  #reading = 0;
  #isClosed = false;
  /** Serializes asynchronous reads. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;

  constructor(content: LargeContent, caches: LargeContentCaches) {
    this.#content = content;
    this.#caches = caches;
    // The presence of these methods shows callers whether the data is remote.
    if (content.file.readAtSync) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
    if (content.prefetch) this.prefetch = () => content.prefetch!();
    if (content.invalidate) {
      this.invalidate = () => {
        const { blocks, owner, number } = caches;
        const gaps = 2 * MOST_PARTS * DECODED_BLOCK;
        blocks.drop(owner, number, content.size + gaps);
        this.#drop();
        content.invalidate!();
      };
    }
  }

  get name(): string {
    return this.#content.name;
  }

  get storedIn(): string {
    return this.#content.file.name;
  }

  get size(): number {
    return this.#content.size;
  }

  get mtime(): number {
    return this.#content.mtime;
  }

  get origin(): ByteSource {
    return this.#content.file;
  }

  readCached(into: Uint8Array, offset: number): number {
    return this.#source?.readCached(this.#part(into, offset), offset) ?? 0;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    { signal }: WaitOptions = {},
  ): Promise<number> {
    signal?.throwIfAborted();
    const wanted = this.#part(into, offset);
    const turn = this.#turn.then(() =>
      runAsync(this.#reads(wanted, offset), signal)
    );
    this.#turn = turn.catch(() => {}); // the reader gets the error
    await turn;
    return wanted.length;
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #part(into: Uint8Array, offset: number): Uint8Array {
    return into.subarray(0, Math.max(0, this.size - offset));
  }

  #readNow(into: Uint8Array, offset: number): number {
    const wanted = this.#part(into, offset);
    if (this.readCached(wanted, offset) === wanted.length) return wanted.length;
    if (this.#reading > 0) {
      // An asynchronous read is in the middle of decoding.
      const other = new LargeSource(this.#content, this.#caches);
      try {
        return other.#readNow(into, offset);
      } finally {
        other.close();
      }
    }
    runSync(this.#read(wanted, offset));
    return wanted.length;
  }

  *#reads(into: Uint8Array, offset: number): Steps<void> {
    this.#reading++;
    try {
      yield* this.#read(into, offset);
    } finally {
      this.#reading--;
      if (this.#isClosed) this.#drop();
    }
  }

  /** Reads; if the content is damaged and its source is cached, invalidates that and reads again. */
  *#read(into: Uint8Array, offset: number): Steps<void> {
    if (into.length === 0) return;
    const { invalidate } = this;
    try {
      return yield* this.#fill(into, offset);
    } catch (error) {
      this.#drop(true);
      const isDamaged = error instanceof FormatError &&
        error.code !== "changed";
      if (invalidate === undefined || !isDamaged) throw this.#faultOf(error);
    }
    invalidate(0, this.size);
    try {
      yield* this.#fill(into, offset);
    } catch (error) {
      this.#drop(true);
      throw this.#faultOf(error);
    }
  }

  *#fill(into: Uint8Array, offset: number): Steps<void> {
    const source = this.#source ??= yield* this.#opened();
    running.delete(this);
    open.delete(this);
    running.add(this);
    open.add(this);
    const [longest] = running;
    if (running.size > MOST_RUNNING) {
      running.delete(longest!);
      longest!.#suspend();
    }
    const [oldest] = open;
    if (open.size > MOST_OPEN) oldest!.#drop();
    yield* fill(source, into, offset);
    // There must be nothing behind the declared end.
    const isEnd = offset + into.length === this.size;
    if (isEnd && "settle" in source) yield* source.settle();
  }

  *#opened(): Steps<DecompressedSource | LiveSource> {
    const { file, name, packed: size, mtime, method } = this.#content;
    const { blocks, owner, number, remote } = this.#caches;
    const start = yield* this.#content.locate();
    const origin = new PartSource(() => file, {
      ...{ name, start, size, mtime, origin: file },
    });
    const state = stateOf(cacheLocation(origin, STREAM_KIND, { remote }));
    const stream: OpenStream = {
      ...{ origin, method, blocks, owner, number, limits: {} },
      long: CachedParts.of(state, remote, mostAtOnce(blocks)),
      leastInterval: Math.max(1 << 20, this.size / MOST_PARTS),
      onLong() {},
    };
    const cached = cachedStreamIndex(stream);
    const known = yield* keptIndex(origin, { remote }, cached);
    if (known?.size === this.size) return decompressedSource(stream, known);
    return liveSource(stream, this.size, (index) => {
      running.delete(this);
      cacheIndex(origin, { remote }, cached, index);
    });
  }

  #suspend(): void {
    if (this.#source !== undefined && "suspend" in this.#source) {
      this.#source.suspend();
    }
  }

  /** Frees what it holds, unless an asynchronous read uses it. */
  #drop(isOwnRead = false): void {
    if (this.#reading > (isOwnRead ? 1 : 0)) return;
    running.delete(this);
    open.delete(this);
    this.#source?.close();
    this.#source = undefined;
  }

  /** Turns what is wrong with the encoded bytes into an error of the content. */
  #faultOf(error: unknown): unknown {
    const { fault, size, name } = this.#content;
    if (error instanceof WrongSizeError) {
      const { actual } = error;
      return (actual as number) > size
        ? fault(`has more than its ${size} bytes`, error)
        : fault(`has ${actual} bytes, not ${size}`, error);
    }
    const isOwn = error instanceof FormatError && error.path === name &&
      (error.code === "bad-structure" || error.code === "truncated-data");
    return isOwn
      ? fault(`can't be decompressed (${error.message})`, error)
      : error;
  }
}
