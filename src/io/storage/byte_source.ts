/** Options of asynchronous operations. */
export interface WaitOptions {
  /** Aborts the operation; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Random access to bytes in a file, in memory or on a server.
 *
 * This is all that containers need; wrappers (caches, checks) implement it too.
 */
export interface ByteSource {
  /** Path or URL, for messages. */
  readonly name: string;
  /** Size in bytes when it was opened. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime: number;
  /**
   * Fills `into` with the bytes from `offset` on.
   *
   * @returns Number of bytes read: fewer than requested only at the end of the data.
   */
  readAt(
    into: Uint8Array,
    offset: number,
    options?: WaitOptions & {
      /** Whether access is sequential, so that the next range may be prefetched. Defaults to `true`. */
      readonly isSequential?: boolean | undefined;
    },
  ): Promise<number>;
  /** {@linkcode ByteSource.readAt} without waiting. Present only if the bytes are local. */
  readAtSync?(into: Uint8Array, offset: number): number;
  /**
   * Fills `into` as far as possible without waiting, with bytes in memory as far as the source can tell. Read the rest
   * with {@linkcode ByteSource.readAt}.
   *
   * @returns Number of bytes read; 0 also at the end of the data.
   */
  readCached?(into: Uint8Array, offset: number): number;
  /**
   * Hints that a range will be read soon, so that the source prefetches it. Errors surface on the read itself. Present
   * only if prefetching helps.
   *
   * @returns Whether the hint was accepted; `false` if enough requests are in flight, or the source is closed.
   */
  prefetch?(offset: number, length: number): boolean;
  /** Invalidates the cached range, so that the next read fetches it. Present only if something is cached. */
  invalidate?(offset: number, length: number): void;
  /**
   * Makes each later read throw a `FormatError` (`changed`) unless the file has these bytes at `offset` when the read
   * ends. For files that other programs write in place. Present only if bytes can change while the source is open.
   */
  guard?(offset: number, bytes: Uint8Array): void;
  /** Closes the source; reading afterwards is an error. */
  close(): void;
}

/** Options of {@linkcode ByteSource.readAt}. */
export type ReadOptions = NonNullable<Parameters<ByteSource["readAt"]>[2]>;

/** Sources by index: an array, or a list that opens each on demand. */
export interface SourceList {
  /** Returns the source of an index. */
  at(index: number): ByteSource | undefined;
}
