const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const TEM = 0x01;

/** RST0 to RST7 stand between entropy-coded data, and alone. */
function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7;
}

/**
 * Finds where a JPEG ends by walking its segments, in bytes that come piece by piece.
 *
 * The bytes of EOI may also stand inside a segment (a thumbnail has its own), so looking for them
 * is not enough.
 */
export class JpegScanner {
  readonly #walk = this.#segments();
  #bytes: Uint8Array = new Uint8Array(0);
  /** Place in the bytes. */
  #at = 0;
  #begun = false;
  /** True if the end has been seen. */
  ended = false;

  /** True if bytes of a JPEG have been seen but not its end. */
  get inside(): boolean {
    return this.#begun && !this.ended;
  }

  /**
   * Goes on with the bytes that follow those of the last call.
   *
   * @returns How many of them belong to the JPEG: all, until its end is found ({@linkcode ended}).
   * @throws {SyntaxError} If they are not a JPEG's; the message says where in `bytes`.
   */
  scan(bytes: Uint8Array): number {
    this.#bytes = bytes;
    this.#at = 0;
    this.ended = this.#walk.next().done === true;
    this.#begun ||= bytes.length > 0;
    return this.#at;
  }

  /** Walks to the end, and waits where the bytes end before. */
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

  /** Goes behind the FF that ends entropy-coded data, or stands in it before a restart. */
  *#skipData(): Generator<void, void, void> {
    for (;;) {
      const found = this.#bytes.indexOf(0xff, this.#at);
      this.#at = found < 0 ? this.#bytes.length : found + 1;
      if (found < 0) yield;
      else if (this.#bytes[this.#at] !== 0) return; // not one that is data
    }
  }

  *#expect(byte: number, what: string): Generator<void, void, void> {
    if ((yield* this.#next()) !== byte) throw this.#notJpeg(what);
  }

  *#next(): Generator<void, number, void> {
    while (this.#at === this.#bytes.length) yield;
    return this.#bytes[this.#at++]!;
  }

  /** The error about the byte that came last. */
  #notJpeg(wanted: string): SyntaxError {
    const offset = this.#at - 1;
    const byte = this.#bytes[offset]!.toString(16).toUpperCase();
    const found = byte.padStart(2, "0");
    return new SyntaxError(`byte ${offset} is ${found} in place of ${wanted}`);
  }
}

/**
 * The length of the JPEG that `bytes` begins with, up to and with EOI; what follows is not part
 * of it.
 *
 * @returns `undefined` if it is cut off or not a JPEG.
 */
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
