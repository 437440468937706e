const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const TEM = 0x01;

/** RST0 to RST7 occur within entropy-coded data, and have no length. */
function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7;
}

/** Incremental scanner for the end of a JPEG. Walks the segments: one may contain EOI, as in a thumbnail. */
export class JpegScanner {
  readonly #walk = this.#segments();
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #begun = false;
  /** Whether the end has been found. */
  ended = false;

  /** Whether bytes of a JPEG have been scanned, but not its end. */
  get inside(): boolean {
    return this.#begun && !this.ended;
  }

  /**
   * Scans the bytes that follow those of the last call.
   *
   * @returns Number of them that belong to the JPEG: all, until its end is found ({@linkcode ended}).
   * @throws {SyntaxError} If they are not a JPEG's; the message gives the offset in `bytes`.
   */
  scan(bytes: Uint8Array): number {
    this.#bytes = bytes;
    this.#at = 0;
    this.ended = this.#walk.next().done === true;
    this.#begun ||= bytes.length > 0;
    return this.#at;
  }

  /** Walks the segments, and yields whenever the bytes run out. */
  *#segments(): Generator<void, void, void> {
    yield* this.#expect(0xff, "FF D8");
    yield* this.#expect(SOI, "D8");
    for (let inData = false;;) {
      if (inData) yield* this.#skipData();
      else yield* this.#expect(0xff, "a marker");
      let code = 0xff;
      while (code === 0xff) code = yield* this.#next();
      if (inData && (code === 0 || isRestart(code))) continue;
      if (code === 0 || code === SOI) throw this.#notJpeg("a marker");
      if (code === EOI) return;
      inData = code === SOS;
      if (code !== TEM && !isRestart(code)) yield* this.#skipSegment();
    }
  }

  *#skipSegment(): Generator<void, void, void> {
    let rest = (yield* this.#next()) << 8;
    rest += (yield* this.#next()) - 2;
    if (rest < 0) throw this.#notJpeg("a length of 2 or more");
    while (rest > 0) {
      if (this.#at === this.#bytes.length) yield;
      const step = Math.min(rest, this.#bytes.length - this.#at);
      this.#at += step;
      rest -= step;
    }
  }

  /** Skips past the FF that ends entropy-coded data or precedes a restart within it. */
  *#skipData(): Generator<void, void, void> {
    for (;;) {
      const found = this.#bytes.indexOf(0xff, this.#at);
      this.#at = found < 0 ? this.#bytes.length : found + 1;
      if (found < 0) yield;
      else if (this.#bytes[this.#at] !== 0) return; // else a stuffed FF 00
    }
  }

  *#expect(byte: number, what: string): Generator<void, void, void> {
    if ((yield* this.#next()) !== byte) throw this.#notJpeg(what);
  }

  *#next(): Generator<void, number, void> {
    while (this.#at === this.#bytes.length) yield;
    return this.#bytes[this.#at++]!;
  }

  /** Returns the error about the last byte read. */
  #notJpeg(wanted: string): SyntaxError {
    const offset = this.#at - 1;
    const byte = this.#bytes[offset]!.toString(16).toUpperCase();
    const found = byte.padStart(2, "0");
    return new SyntaxError(`byte ${offset} is ${found} in place of ${wanted}`);
  }
}

/** Returns the length of the JPEG at the start of `bytes`, including EOI; `undefined` if truncated or not a JPEG. */
export function jpegLength(bytes: Uint8Array): number | undefined {
  const scanner = new JpegScanner();
  try {
    const length = scanner.scan(bytes);
    return scanner.ended ? length : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
