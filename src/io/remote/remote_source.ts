import { RecordfsError } from "../../base/errors.ts";
import type { ByteSource, ReadOptions } from "../storage/byte_source.ts";
import type { BlockFetcher } from "./block_fetcher.ts";
import type { ObjectState } from "./remote_object.ts";
import type { RemoteOptions } from "./remote_options.ts";

/** Location of an object, from which another thread can open it. */
export interface RemoteOrigin {
  readonly url: string;
  readonly options: RemoteOptions;
  readonly path: string;
}

/** An open object of a server. Fetched parts are read without waiting. */
export class RemoteSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly tag: string;
  /** Whether the tag identifies that state uniquely, so that parts may be cached for other programs. */
  readonly isLasting: boolean;
  readonly origin: RemoteOrigin;
  readonly fetcher: BlockFetcher;
  /** Milliseconds to fetch the whole object sequentially, in requests like the one that opened it. */
  readonly fetchTime: number;
  readonly #release: () => void;
  #closed = false;

  constructor(
    { name, origin, fetcher, fetchTime }: Pick<
      RemoteSource,
      "name" | "origin" | "fetcher" | "fetchTime"
    >,
    { size, mtime, tag, isLasting }: ObjectState,
    release: () => void,
  ) {
    this.name = name;
    this.size = size;
    this.mtime = mtime;
    this.tag = tag;
    this.isLasting = isLasting;
    this.origin = origin;
    this.fetcher = fetcher;
    this.fetchTime = fetchTime;
    this.#release = release;
  }

  readCached(into: Uint8Array, offset: number): number {
    this.#requireOpen();
    return this.fetcher.readNow(into, offset);
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    { signal, isSequential }: ReadOptions = {},
  ): Promise<number> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const length = Math.min(into.byteLength, this.size - offset);
    if (length <= 0) return 0;
    await this.fetcher.read(
      into.subarray(0, length),
      offset,
      signal,
      isSequential,
    );
    return length;
  }

  prefetch(offset: number, length: number): boolean {
    if (this.#closed) return false;
    const end = Math.min(offset + length, this.size);
    return end <= offset || this.fetcher.prefetch(offset, end - offset);
  }

  invalidate(offset: number, length: number): void {
    this.#requireOpen();
    if (length > 0) this.fetcher.invalidate(offset, length);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new RecordfsError(
      "closed",
      `Cannot read ${this.name}: it has been closed`,
      {
        path: this.name,
      },
    );
  }
}
