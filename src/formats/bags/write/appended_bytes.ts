import { Buffer } from "node:buffer";
import { GatheredBytes } from "../../../io/write/gathered_bytes.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";

/** What is longer is written from where it lies. */
const LONGEST_GATHERED = 1 << 18;

/** Bytes that are compared at a time. */
const PIECE = 1 << 16;

/**
 * Bytes that are appended to a bag or an index.
 *
 * Where the file has bytes already behind the place that is appended at, those that are appended
 * must be the same, and are not written again.
 */
export class AppendedBytes extends GatheredBytes {
  readonly #there: number;
  readonly #mismatch: () => Error;

  /**
   * @param there Bytes that the file has already.
   * @param mismatch The error for bytes that are not those that are there.
   */
  constructor(file: WritableFile, there: number, mismatch: () => Error) {
    super(file, 0);
    this.#there = there;
    this.#mismatch = mismatch;
    this.furthest = there;
  }

  /** Whether so many bytes can be gathered without waiting. */
  hasRoom(bytes: number): boolean {
    return bytes <= LONGEST_GATHERED && this.end >= this.#there &&
      bytes <= this.room;
  }

  /** Whether the buffer is nearly full: the longest that is gathered may not fit. */
  get isFull(): boolean {
    return this.room < LONGEST_GATHERED;
  }

  /** Gathers bytes for which there is room. */
  gather(bytes: Uint8Array): void {
    this.add(bytes);
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
    yield* this.write(bytes);
    if (bytes.length !== length) {
      throw new TypeError(
        "The buffer was transferred or resized while it was written",
      );
    }
  }

  /** Writes what was gathered. If that fails it stays gathered, and can be written later. */
  override *flush(): Steps<void> {
    if (this.#hasTakenBack) yield* this.#cut();
    yield* super.flush();
  }

  /** Takes back what was appended behind `end`. */
  override takeBack(end: number): void {
    super.takeBack(end);
    if (!this.#hasTakenBack) return;
    try {
      // At once: a process that is killed must not leave what was never asked to stay.
      runSync(this.#cut());
    } catch {
      // Before the next bytes are written, then.
    }
  }

  get #hasTakenBack(): boolean {
    return this.furthest > Math.max(this.written, this.#there);
  }

  /** Removes from the file what was taken back, and what a write that failed has left. */
  *#cut(): Steps<void> {
    const end = Math.max(this.written, this.#there);
    yield* this.file.truncate(end);
    this.furthest = end;
  }

  /**
   * Goes past bytes that are in the file already.
   *
   * @returns How many of `bytes` those are.
   */
  *#compare(bytes: Uint8Array): Steps<number> {
    const start = this.written;
    const length = Math.min(bytes.length, this.#there - start);
    const there = new Uint8Array(Math.min(length, PIECE));
    for (let done = 0; done < length; done += PIECE) {
      const piece = there.subarray(0, length - done);
      yield* this.file.readAt(piece, start + done);
      const same = bytes.subarray(done, done + piece.length);
      if (Buffer.compare(piece, same) !== 0) throw this.#mismatch();
    }
    this.startAt(start + length);
    return length;
  }
}
