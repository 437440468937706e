import { Buffer } from "node:buffer";
import { runSync, type Steps } from "../../io/steps.ts";
import type { WritableFile } from "../../io/writable_file.ts";

/** At most so many bytes are gathered before they are written, and written at once. */
const LARGEST_BUFFER = 1 << 20;

/** The buffer starts as small as this, since a dataset may have many keys with little in them. */
const SMALLEST_BUFFER = 1 << 13;

/** What is longer is written from where it lies. */
const LONGEST_GATHERED = 1 << 18;

/** A buffer with more than this is nearly full: the longest that is gathered may not fit. */
const NEARLY_FULL = LARGEST_BUFFER - LONGEST_GATHERED;

/** Bytes that are compared at a time. */
const PIECE = 1 << 16;

/** How {@linkcode AppendedBytes} starts. */
interface Start {
  /** Bytes that the file has already. */
  readonly there?: number;
  /** The error for bytes that are not those that are there. */
  readonly mismatch?: () => Error;
}

/**
 * Bytes that are appended to a file: gathered, and written in large pieces.
 *
 * Where the file has bytes already behind the place that is appended at, those that are appended
 * must be the same, and are not written again.
 */
export class AppendedBytes {
  readonly #file: WritableFile;
  readonly #there: number;
  readonly #mismatch: () => Error;
  #buffer = new Uint8Array(0);
  /** Where in the file the buffer's first byte goes. */
  #bufferAt = 0;
  #used = 0;
  /** No byte is in the file from there on; before it are some that were taken back. */
  #furthest: number;

  constructor(file: WritableFile, { there = 0, mismatch }: Start = {}) {
    this.#file = file;
    this.#there = there;
    this.#mismatch = mismatch ?? (() => new Error("There are other bytes"));
    this.#furthest = there;
  }

  /** Where the next byte goes. */
  get end(): number {
    return this.#bufferAt + this.#used;
  }

  /** How far the file has what was appended. */
  get written(): number {
    return this.#bufferAt;
  }

  /** Goes on at another place, before anything is appended. */
  startAt(end: number): void {
    this.#bufferAt = end;
  }

  /** Whether so many bytes can be gathered without waiting. */
  hasRoom(bytes: number): boolean {
    return bytes <= LONGEST_GATHERED && this.end >= this.#there &&
      this.#used + bytes <= LARGEST_BUFFER;
  }

  /** Whether the buffer is nearly full. */
  get isFull(): boolean {
    return this.#used > NEARLY_FULL;
  }

  /** Gathers bytes for which there is room. */
  gather(bytes: Uint8Array): void {
    const used = this.#used + bytes.length;
    if (used > this.#buffer.length) this.#grow(used);
    this.#buffer.set(bytes, this.#used);
    this.#used = used;
  }

  /** Appends bytes of any number. */
  *append(bytes: Uint8Array): Steps<void> {
    if (this.end < this.#there) {
      bytes = bytes.subarray(yield* this.#compare(bytes));
      if (bytes.length === 0) return;
    }
    if (!this.hasRoom(bytes.length)) yield* this.flush();
    if (this.hasRoom(bytes.length)) return this.gather(bytes);
    const { length } = bytes;
    yield* this.#write(bytes);
    if (bytes.length !== length) {
      throw new TypeError(
        "The buffer was transferred or resized while it was written",
      );
    }
  }

  /** Writes what was gathered. If that fails it stays gathered, and can be written later. */
  *flush(): Steps<void> {
    if (this.#hasTakenBack) yield* this.#cut();
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
    if (!this.#hasTakenBack) return;
    try {
      // At once: a process that is killed must not leave what was never asked to stay.
      runSync(this.#cut());
    } catch {
      // Before the next bytes are written, then.
    }
  }

  get #hasTakenBack(): boolean {
    return this.#furthest > Math.max(this.#bufferAt, this.#there);
  }

  /** Removes from the file what was taken back, and what a write that failed has left. */
  *#cut(): Steps<void> {
    const end = Math.max(this.#bufferAt, this.#there);
    yield* this.#file.truncate(end);
    this.#furthest = end;
  }

  /**
   * Goes past bytes that are in the file already.
   *
   * @returns How many of `bytes` those are.
   */
  *#compare(bytes: Uint8Array): Steps<number> {
    const start = this.#bufferAt;
    const length = Math.min(bytes.length, this.#there - start);
    const there = new Uint8Array(Math.min(length, PIECE));
    for (let done = 0; done < length; done += PIECE) {
      const piece = there.subarray(0, length - done);
      yield* this.#file.readAt(piece, start + done);
      const same = bytes.subarray(done, done + piece.length);
      if (Buffer.compare(piece, same) !== 0) throw this.#mismatch();
    }
    this.#bufferAt = start + length;
    return length;
  }

  #grow(needed: number): void {
    const doubled = Math.max(2 * this.#buffer.length, SMALLEST_BUFFER);
    const larger = new Uint8Array(
      Math.min(Math.max(doubled, needed), LARGEST_BUFFER),
    );
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }

  *#write(bytes: Uint8Array): Steps<void> {
    const end = this.#bufferAt + bytes.length;
    this.#furthest = Math.max(this.#furthest, end); // a write that fails may have done a part
    yield* this.#file.writeAt(bytes, this.#bufferAt);
    this.#bufferAt = end;
  }
}
