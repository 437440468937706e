/** Options of what waits. */
export interface WaitOptions {
  /** Gives up; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of reading a part of a source. */
export interface ReadOptions extends WaitOptions {
  /** Whether what lies behind will probably be read next, so that it may be fetched ahead. Defaults to `true`. */
  readonly goesOn?: boolean | undefined;
}

/** Options of opening a file of a storage. */
export interface OpenFileOptions {
  /**
   * Whether a writer may still append to it. What was there when it was opened then stays readable;
   * otherwise any change is an error. Defaults to `false`.
   */
  readonly mayGrow?: boolean | undefined;
}

/**
 * Random access to bytes that lie somewhere: a file, memory, a server.
 *
 * The whole contract that containers need; wrappers (caches, checks) implement it again.
 */
export interface ByteSource {
  /** Name in messages: a path or a URL. */
  readonly name: string;
  /** Size in bytes when it was opened. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime: number;
  /**
   * Fills `into` with the bytes from `offset` on.
   *
   * @returns How many bytes were read: fewer than asked for only at the end of the data.
   */
  readAt(
    into: Uint8Array,
    offset: number,
    options?: ReadOptions,
  ): Promise<number>;
  /** The same without waiting; present only where the bytes are local. */
  readAtSync?(into: Uint8Array, offset: number): number;
  /**
   * Fills `into` as far as that needs no waiting: with what is in memory, as far as the source can
   * tell. The rest is for {@linkcode ByteSource.readAt}.
   *
   * @returns How many bytes were read; 0 also at the end of the data.
   */
  readCached?(into: Uint8Array, offset: number): number;
  /**
   * Hears that a part will be read soon: a source that has to fetch it begins to. What goes wrong, whoever reads it is
   * told. Present only where that helps.
   *
   * @returns Whether it was noted; not where enough is under way, or it has been closed.
   */
  expect?(offset: number, length: number): boolean;
  /** Invalidates what is cached of a range, so that the next read fetches it. Present only where something is cached. */
  invalidate?(offset: number, length: number): void;
  /** Lets go of what the source holds; reading afterwards is an error. */
  close(): void;
}

/** Sources by their index: an array, or what opens each when it is asked for. */
export interface SourceList {
  /** The source of that index. */
  at(index: number): ByteSource | undefined;
}
