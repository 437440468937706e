import { runAsync, runSync, type Steps } from "../io/concurrency/steps.ts";
import type { ByteSource, ReadOptions } from "../io/storage/byte_source.ts";
import { isMade } from "../io/storage/made_source.ts";

/** How a {@linkcode LateSource} reaches its bytes. */
export interface Lender {
  /** Opens the source, unless it is open. The caller ends the use. */
  lend(): Steps<{ readonly source: ByteSource; end(): void }>;
  /** Returns the source if it is open. */
  peek(): ByteSource | undefined;
}

/** Properties of a source that are known before it is opened. */
export interface LateFacts extends Pick<ByteSource, "mtime" | "name" | "size"> {
  /** Whether it is local, so that it can be read without waiting. */
  readonly isLocal: boolean;
}

/** A source that is opened when it is read, and may be closed between two reads. */
export class LateSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  declare readonly storedIn?: string | undefined;
  declare readonly holes?: number;
  readonly readAtSync?: (into: Uint8Array, offset: number) => number;
  readonly prefetch?: (offset: number, length: number) => boolean;
  readonly invalidate?: (offset: number, length: number) => void;
  readonly #lender: Lender;

  /** @param like The source, if it is open: other methods depend on it. */
  constructor(
    { name, size, mtime, isLocal }: LateFacts,
    lender: Lender,
    like?: ByteSource,
  ) {
    this.name = name;
    this.size = size;
    this.mtime = mtime;
    this.#lender = lender;
    // The presence of these methods says what callers can expect of the data.
    if (like?.readAtSync ?? isLocal) {
      this.readAtSync = (into, offset) => this.#readNow(into, offset);
    }
    if (like === undefined ? !isLocal : like.prefetch) {
      this.prefetch = (offset, length) =>
        lender.peek()?.prefetch?.(offset, length) ?? false;
    }
    if (like === undefined ? !isLocal : like.invalidate) {
      this.invalidate = (offset, length) =>
        lender.peek()?.invalidate?.(offset, length);
    }
    if (like !== undefined && isMade(like)) {
      this.storedIn = like.storedIn;
      if (like.holes !== undefined) this.holes = like.holes;
    }
  }

  readCached(into: Uint8Array, offset: number): number {
    return this.#lender.peek()?.readCached?.(into, offset) ?? 0;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: ReadOptions = {},
  ): Promise<number> {
    const { source, end } = await runAsync(
      this.#lender.lend(),
      options.signal,
    );
    try {
      return await source.readAt(into, offset, options);
    } finally {
      end();
    }
  }

  close(): void {} // its lender closes what is open

  #readNow(into: Uint8Array, offset: number): number {
    const { source, end } = runSync(this.#lender.lend());
    try {
      return source.readAtSync!(into, offset);
    } finally {
      end();
    }
  }
}
