import { warnOnConsole } from "../../base/message_text.ts";
import type { MessageListener } from "../../base/named_option.ts";
import type { CacheLocation } from "../index_cache/cache_location.ts";
import { CACHE_BLOCK } from "../remote/cache/block_store.ts";
import { CacheDirectory } from "../remote/cache/cache_directory.ts";
import { DiskStore } from "../remote/cache/disk_store.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { LongParts } from "./stream_index.ts";

/** Bytes of a part that are one object of the cache, which evicts whole objects. */
const OBJECT = 64 << 20;
/** Most objects that a thread holds open, which nobody evicts meanwhile. */
const MOST_OPEN = 4;
/** Time of objects: their contents are made by this program. */
const NO_TIME = 0;

/** Identifies a state of a compressed file in the cache. */
export interface StreamState {
  /** Unique, and not written anywhere. */
  readonly identity: string;
  /** Name of the file, for people. */
  readonly of: string;
}

/** Returns the state that a location of an index identifies. */
export function stateOf(
  location: CacheLocation | undefined,
): StreamState | undefined {
  return location && { identity: location.state, of: location.of };
}

/**
 * Parts of a compressed stream that are too long to be decoded for each read, in the block cache on the disk. What is
 * evicted must be decoded again.
 */
export class CachedParts implements LongParts {
  readonly most: number;
  readonly #state: StreamState;
  readonly #cache: CacheDirectory;
  /** Open objects in order of use. */
  readonly #open = new Map<string, DiskStore>();
  /** Bytes of the part that is being put that fill no block yet. */
  readonly #rest = new Uint8Array(CACHE_BLOCK);
  #restLength = 0;

  constructor(
    state: StreamState,
    cache: CacheDirectory,
    most: number,
  ) {
    this.#state = state;
    this.#cache = cache;
    this.most = most;
  }

  /** Returns the cache of a stream's parts; `undefined` if there is no state, or nothing may be cached on the disk. */
  static of(
    state: StreamState | undefined,
    remote: RemoteOptions | undefined,
    most: number,
    onWarning: MessageListener = warnOnConsole,
  ): CachedParts | undefined {
    if (state === undefined || remote?.cache === false) return undefined;
    const warn = remote?.onWarning ?? onWarning;
    const cache = new CacheDirectory(remote?.cache ?? {}, warn);
    if (cache.root.missing !== undefined) return undefined;
    return new CachedParts(state, cache, most);
  }

  put(part: number, offset: number, bytes: Uint8Array): void {
    if (offset === 0) this.#restLength = 0;
    let done = 0;
    if (this.#restLength > 0) {
      done = Math.min(CACHE_BLOCK - this.#restLength, bytes.length);
      this.#rest.set(bytes.subarray(0, done), this.#restLength);
      this.#restLength += done;
      if (this.#restLength < CACHE_BLOCK) return;
      this.#keep(part, offset + done - CACHE_BLOCK, this.#rest);
      this.#restLength = 0;
    }
    const whole = (bytes.length - done) - (bytes.length - done) % CACHE_BLOCK;
    if (whole > 0) {
      this.#keep(part, offset + done, bytes.subarray(done, done + whole));
      done += whole;
    }
    this.#rest.set(bytes.subarray(done));
    this.#restLength = bytes.length - done;
  }

  /** Puts the last bytes of a part of that length. */
  end(part: number, length: number): void {
    if (this.#restLength === 0) return;
    this.#rest.fill(0, this.#restLength);
    this.#keep(part, length - this.#restLength, this.#rest);
    this.#restLength = 0;
  }

  /** Reads up to the first byte that is not cached. Returns the number of bytes read. */
  read(part: number, into: Uint8Array, offset: number): number {
    let done = 0;
    while (done < into.length) {
      const at = offset + done;
      const start = at % OBJECT;
      const piece = into.subarray(done, done + OBJECT - start);
      const store = this.#at(part, Math.floor(at / OBJECT));
      if (store === undefined) break;
      const last = Math.floor((start + piece.length - 1) / CACHE_BLOCK);
      store.look(Math.floor(start / CACHE_BLOCK), last);
      const got = store.read(piece, start);
      done += got;
      if (got < piece.length) break;
    }
    return done;
  }

  close(): void {
    for (const store of this.#open.values()) store.close();
    this.#open.clear();
  }

  #keep(part: number, offset: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const at = offset + done;
      const start = at % OBJECT;
      const piece = bytes.subarray(done, done + OBJECT - start);
      const store = this.#at(part, Math.floor(at / OBJECT));
      store?.keep(start / CACHE_BLOCK, piece);
      done += piece.length;
    }
  }

  #at(part: number, object: number): DiskStore | undefined {
    const key = `${part} ${object}`;
    let store = this.#open.get(key);
    if (store === undefined) {
      const { identity, of } = this.#state;
      const opened = this.#cache.open(`decompressed ${key}\n${identity}`, {
        url: `${of} (decompressed, part ${part + 1}.${object + 1})`,
        size: OBJECT,
        tag: identity,
        mtime: NO_TIME,
        isLasting: true,
      });
      if (opened === undefined) return undefined; // a warning was given
      store = new DiskStore(opened);
    }
    this.#open.delete(key);
    this.#open.set(key, store);
    if (this.#open.size > MOST_OPEN) {
      const [oldest] = this.#open.keys();
      this.#open.get(oldest!)!.close();
      this.#open.delete(oldest!);
    }
    return store;
  }
}
