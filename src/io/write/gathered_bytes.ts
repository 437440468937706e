import type { Steps } from "../concurrency/steps.ts";
import type { WritableFile } from "./writable_file.ts";

/** Most bytes that are buffered before they are written, and most bytes of one write. */
export const LARGEST_BUFFER = 1 << 20;

/** Up to this size, bytes are buffered and checksummed there. Larger ones are written from where they lie. */
export const SMALL = 64 * 1024;

/** Initial buffer size; small, because there may be many with little data. */
const SMALLEST_BUFFER = 1 << 13;

/** Append buffer of a file, written in large pieces. */
export class GatheredBytes {
  protected readonly file: WritableFile;
  /** End of all bytes in the file, including ones taken back. */
  protected furthest = 0;
  #buffer = new Uint8Array(0);
  #bufferAt: number;
  #used = 0;

  constructor(file: WritableFile, start: number) {
    this.file = file;
    this.#bufferAt = start;
  }

  get end(): number {
    return this.#bufferAt + this.#used;
  }

  /** File offset up to which appended bytes are written. */
  get written(): number {
    return this.#bufferAt;
  }

  /** Bytes that can be buffered without writing. */
  get room(): number {
    return LARGEST_BUFFER - this.#used;
  }

  /** Moves buffered and later bytes to another file offset. */
  startAt(start: number): void {
    this.#bufferAt = start;
  }

  /** Buffers bytes, for which there must be room. */
  add(bytes: Uint8Array): void {
    const used = this.#used + bytes.byteLength;
    if (used > this.#buffer.byteLength) this.#grow(used);
    this.#buffer.set(bytes, this.#used);
    this.#used = used;
  }

  /** Appends any number of bytes. Returns their checksum, which `sum` continues from `before`. */
  protected *appendSummed(
    bytes: Uint8Array,
    sum: (bytes: Uint8Array, before: number) => number,
    before: number,
    what: string,
  ): Steps<number> {
    const length = bytes.byteLength;
    if (length > this.room) yield* this.flush();
    if (length <= SMALL) {
      this.add(bytes);
      return sum(this.last(length), before);
    }
    yield* this.flush();
    let crc = before;
    for (let done = 0; done < length; done += LARGEST_BUFFER) {
      const piece = bytes.subarray(done, done + LARGEST_BUFFER);
      if (piece.byteLength < Math.min(LARGEST_BUFFER, length - done)) {
        throw new TypeError(
          `Cannot write the ${what}: its buffer was transferred or resized meanwhile`,
        );
      }
      crc = sum(piece, crc); // while the piece is in the CPU's cache
      yield* this.write(piece);
    }
    return crc;
  }

  protected last(length: number): Uint8Array {
    return this.#buffer.subarray(this.#used - length, this.#used);
  }

  /** Writes the buffer. On failure the bytes stay buffered and can be written later. */
  *flush(): Steps<void> {
    if (this.#used === 0) return;
    yield* this.write(this.#buffer.subarray(0, this.#used), true);
    this.#used = 0;
  }

  *complete(): Steps<void> {
    yield* this.flush();
    if (this.furthest > this.end) yield* this.file.truncate(this.end);
  }

  /** Writes bytes from where they lie. The buffer must be empty. `isOwn` as in {@linkcode WritableFile.writeAt}. */
  protected *write(bytes: Uint8Array, isOwn = false): Steps<void> {
    const end = this.#bufferAt + bytes.byteLength;
    this.furthest = Math.max(this.furthest, end); // a failed write may have written a part
    yield* this.file.writeAt(bytes, this.#bufferAt, isOwn);
    this.#bufferAt = end;
  }

  /** Takes back what was appended after `end`. */
  takeBack(end: number): void {
    if (end >= this.#bufferAt) {
      this.#used = end - this.#bufferAt;
    } else {
      this.#bufferAt = end;
      this.#used = 0;
    }
  }

  #grow(needed: number): void {
    const doubled = Math.max(2 * this.#buffer.byteLength, SMALLEST_BUFFER);
    const larger = new Uint8Array(
      Math.min(Math.max(doubled, needed), LARGEST_BUFFER),
    );
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }
}
