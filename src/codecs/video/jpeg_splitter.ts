import { JpegScanner } from "../image/jpeg_scanner.ts";

/** More than any frame has; a stream without an end is not gathered for ever. */
const MAX_FRAME_BYTES = 2 ** 28;

/** Cuts a stream of JPEGs, one right after the other, into the JPEGs. */
export class JpegSplitter {
  #scanner = new JpegScanner();
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Whether the stream so far ends within a JPEG. */
  get inside(): boolean {
    return this.#scanner.inside;
  }

  /**
   * Takes the next bytes of the stream.
   *
   * @returns The JPEGs that they complete, each in memory of its own.
   * @throws {SyntaxError} If they are not JPEGs.
   */
  *push(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>, void> {
    let rest = chunk;
    while (rest.length > 0) {
      const length = this.#scanner.scan(rest);
      this.#parts.push(rest.subarray(0, length));
      this.#size += length;
      if (this.#size > MAX_FRAME_BYTES) {
        throw new SyntaxError(`a JPEG has more than ${MAX_FRAME_BYTES} bytes`);
      }
      rest = rest.subarray(length);
      if (this.#scanner.ended) yield this.#take();
    }
  }

  #take(): Uint8Array<ArrayBuffer> {
    const jpeg = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      jpeg.set(part, at);
      at += part.length;
    }
    this.#scanner = new JpegScanner();
    this.#parts = [];
    this.#size = 0;
    return jpeg;
  }
}
