import { crc32 } from "node:zlib";
import type { Steps } from "../../io/steps.ts";
import type { WritableFile } from "../../io/writable_file.ts";

/** How many bytes are gathered before they are written, and written at once. */
const BUFFER = 1 << 20;

/** Samples up to this size are gathered; larger ones are written from where they lie. */
export const SMALL_SAMPLE = 64 * 1024;

/** The samples of a file that is being written: bytes one after the other, from `start` on. */
export class SampleOutput {
  readonly #file: WritableFile;
  readonly #buffer = new Uint8Array(BUFFER);
  /** Where in the file the buffer's first byte goes. */
  #bufferAt: number;
  #used = 0;
  /** No byte is in the file from there on; before it are some that were taken back. */
  #furthest = 0;

  constructor(file: WritableFile, start: number) {
    this.#file = file;
    this.#bufferAt = start;
  }

  /** Where the next byte goes. */
  get end(): number {
    return this.#bufferAt + this.#used;
  }

  /** How many bytes can be gathered without writing. */
  get room(): number {
    return BUFFER - this.#used;
  }

  /**
   * Gathers bytes for which there is room.
   *
   * @param crc Checksum of the sample's bytes before them.
   * @returns Checksum with them.
   */
  gather(bytes: Uint8Array, crc: number): number {
    const own = this.#buffer.subarray(this.#used, this.#used + bytes.length);
    own.set(bytes);
    this.#used += bytes.length;
    return crc32(own, crc);
  }

  /** Appends bytes of any number; `crc` as for {@linkcode SampleOutput.gather}. */
  *append(bytes: Uint8Array, crc: number): Steps<number> {
    if (bytes.length > this.room) yield* this.flush();
    if (bytes.length <= SMALL_SAMPLE) return this.gather(bytes, crc);
    yield* this.flush();
    const length = bytes.length;
    for (let done = 0; done < length; done += BUFFER) {
      const piece = bytes.subarray(done, done + BUFFER);
      if (piece.length < Math.min(BUFFER, length - done)) {
        throw new TypeError(
          "The sample's buffer was transferred or resized while it was written",
        );
      }
      crc = crc32(piece, crc); // while the piece is in the CPU's cache
      yield* this.#write(piece);
    }
    return crc;
  }

  /** Writes what was gathered. If that fails it stays gathered, and can be written later. */
  *flush(): Steps<void> {
    if (this.#used === 0) return;
    yield* this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
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

  /**
   * Writes the rest, moves all samples up by `shift` bytes inside the file, and has the file end
   * with the last one.
   */
  *finish(shift: number): Steps<void> {
    const written = this.#bufferAt;
    const end = this.end + shift;
    this.#bufferAt += shift;
    yield* this.flush();
    if (shift > 0) yield* this.#moveUp(written, shift);
    if (this.#furthest > end) yield* this.#file.truncate(end);
  }

  /** From the end backwards, so that what is overwritten has been moved already. */
  *#moveUp(length: number, shift: number): Steps<void> {
    for (let rest = length; rest > 0;) {
      const block = this.#buffer.subarray(0, Math.min(rest, BUFFER));
      rest -= block.length;
      yield* this.#file.readAt(block, rest);
      yield* this.#file.writeAt(block, rest + shift);
    }
  }

  *#write(bytes: Uint8Array): Steps<void> {
    const end = this.#bufferAt + bytes.length;
    this.#furthest = Math.max(this.#furthest, end); // a write that fails may have done a part
    yield* this.#file.writeAt(bytes, this.#bufferAt);
    this.#bufferAt = end;
  }
}
