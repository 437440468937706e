import type { Steps } from "../concurrency/steps.ts";
import type { WritableFile } from "./writable_file.ts";

/** At most so many bytes are gathered before they are written, and written at once. */
export const LARGEST_BUFFER = 1 << 20;

/** What is up to this size is gathered where it is summed; larger ones are written from where they lie. */
export const SMALL = 64 * 1024;

/** The buffer starts as small as this, since there may be many with little in them. */
const SMALLEST_BUFFER = 1 << 13;

/** Bytes that are appended to a file: gathered, and written in large pieces. */
export class GatheredBytes {
  protected readonly file: WritableFile;
  /** No byte is in the file from there on; before it are some that were taken back. */
  protected furthest = 0;
  #buffer = new Uint8Array(0);
  /** Where in the file the buffer's first byte goes. */
  #bufferAt: number;
  #used = 0;

  /** @param start Where in the file the first byte goes. */
  constructor(file: WritableFile, start: number) {
    this.file = file;
    this.#bufferAt = start;
  }

  /** Where the next byte goes. */
  get end(): number {
    return this.#bufferAt + this.#used;
  }

  /** Bytes of what was appended that the file has. */
  get written(): number {
    return this.#bufferAt;
  }

  /** Bytes that can be gathered without writing. */
  get room(): number {
    return LARGEST_BUFFER - this.#used;
  }

  /** Has what is gathered, and comes after it, go to another place. */
  startAt(start: number): void {
    this.#bufferAt = start;
  }

  /** Gathers bytes for which there is room. */
  add(bytes: Uint8Array): void {
    const used = this.#used + bytes.byteLength;
    if (used > this.#buffer.byteLength) this.#grow(used);
    this.#buffer.set(bytes, this.#used);
    this.#used = used;
  }

  /**
   * Appends bytes of any number.
   *
   * @param sum Takes their checksum, on from that of those before.
   * @param before Checksum of those before them.
   * @param what What they are of, for messages.
   * @returns Checksum with them.
   */
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
          `The ${what}'s buffer was transferred or resized while it was written`,
        );
      }
      crc = sum(piece, crc); // while the piece is in the CPU's cache
      yield* this.write(piece);
    }
    return crc;
  }

  /** The bytes that were gathered last. */
  protected last(length: number): Uint8Array {
    return this.#buffer.subarray(this.#used - length, this.#used);
  }

  /** Writes what was gathered. If that fails it stays gathered, and can be written later. */
  *flush(): Steps<void> {
    if (this.#used === 0) return;
    yield* this.write(this.#buffer.subarray(0, this.#used), true);
    this.#used = 0;
  }

  /** Writes the rest, and has the file end with it. */
  *complete(): Steps<void> {
    yield* this.flush();
    if (this.furthest > this.end) yield* this.file.truncate(this.end);
  }

  /** Writes bytes from where they lie; nothing may be gathered. `isOwn` as for {@linkcode WritableFile.writeAt}. */
  protected *write(bytes: Uint8Array, isOwn = false): Steps<void> {
    const end = this.#bufferAt + bytes.byteLength;
    this.furthest = Math.max(this.furthest, end); // a write that fails may have done a part
    yield* this.file.writeAt(bytes, this.#bufferAt, isOwn);
    this.#bufferAt = end;
  }

  /** Takes back what was appended behind `end`. */
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
