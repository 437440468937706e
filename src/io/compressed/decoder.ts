/** Decoder of one member of a stream: a gzip member, a zstd frame. */
export interface Decoder {
  /** Bytes of the input that the last step consumed. */
  readonly read: number;
  /** Bytes that the last step wrote. */
  readonly written: number;
  /** Whether the member has ended. Nothing behind its end was consumed. */
  readonly isEnd: boolean;
  /**
   * Decodes as much as fits.
   *
   * @param input The bytes that follow; what is not consumed must be given again.
   * @param isLast Whether nothing follows the input.
   * @throws {DecodeError} If the member is damaged.
   */
  step(input: Uint8Array, output: Uint8Array, isLast: boolean): void;
  /**
   * Number of bits of the last consumed byte that were not consumed, if decoding can be resumed after the last step, at a
   * boundary between blocks, with the last {@linkcode WINDOW} bytes as the dictionary; `undefined` otherwise.
   */
  readonly spareBits?: number | undefined;
  /** Prepares decoding of a new member. */
  reset(): void;
  close(): void;
}

/** Size in bytes of what a deflate stream refers back to (RFC 1951, 2). */
export const WINDOW = 1 << 15;

/** A stream that cannot be decoded. The caller knows its name. */
export class DecodeError extends Error {
  /** Whether the stream is intact, but needs more memory than is given to one. */
  readonly isTooLarge: boolean;

  constructor(why: string, isTooLarge = false) {
    super(why);
    this.isTooLarge = isTooLarge;
  }
}
