import { Buffer } from "node:buffer";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import { HeadScanner } from "./head_scanner.ts";
import { type ConnectionRoom, freeMemory, OWN } from "./memory.ts";
import { firstLines } from "./request_head.ts";

/** Initial size of the buffer, in bytes. */
const READ = 8 << 10;
/** Maximum bytes of a request's head. Enough for 1,000 ranges, whose request gets a specific error. */
const LONGEST_HEAD = 256 << 10;
/** Maximum without the token in its first so many bytes. */
const LONGEST_UNKNOWN = OWN;
const CR = 0x0d;

/** Buffered reader of a connection's requests. */
export class RequestBytes {
  readonly #conn: Deno.Conn;
  readonly #room: ConnectionRoom;
  readonly #scanner = new HeadScanner();
  /** Buffer; the bytes from {@linkcode RequestBytes.#start} to {@linkcode RequestBytes.#end} are unread. */
  #bytes = Buffer.alloc(READ);
  #start = 0;
  #end = 0;
  /** End of the part scanned for the end of a head. */
  #scanned = 0;
  /** Read in progress, which writes into the buffer: the unread bytes must not move. */
  #reading: Promise<boolean> | undefined;
  /** Bytes of the current body taken so far. */
  #bodyBytes = 0;
  hasRead = false;

  constructor(conn: Deno.Conn, room: ConnectionRoom) {
    this.#conn = conn;
    this.#room = room;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Reads more bytes. Requires free space, or an empty buffer. Returns whether any came. */
  async read(): Promise<boolean> {
    this.#reading ??= this.#read();
    try {
      return await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  /**
   * Starts the next read if there is room, to detect that the client disconnects.
   *
   * @param ended Called if the client closes its sending half.
   * @param reset Called if the connection is reset.
   */
  watch(ended: () => void, reset: () => void): void {
    if (this.#end === this.#bytes.length) return;
    this.#reading ??= this.#read();
    this.#reading.then((hasCome) => {
      if (!hasCome) ended();
    }, reset);
  }

  async #read(): Promise<boolean> {
    if (this.#end === this.#bytes.length || this.#start === this.#end) {
      this.#bytes.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#scanned -= this.#start;
      this.#start = 0;
    }
    const got = await this.#conn.read(this.#bytes.subarray(this.#end));
    this.hasRead = true;
    this.#end += got ?? 0;
    return got !== null;
  }

  /** Scans for the end of the next head; returns as {@linkcode HeadScanner.scan}. */
  findHead(): number {
    const end = this.#scanner.scan(this.#bytes, this.#scanned, this.#end);
    this.#scanned = end > 0 ? end : this.#end;
    return end;
  }

  /** Takes the head up to an offset, as one character per byte. */
  takeHead(end: number): string {
    const hasEmptyLine = this.#bytes[this.#start] === CR;
    const start = this.#start + (hasEmptyLine ? 2 : 0);
    this.#start = end;
    return this.#bytes.toString("latin1", start, end);
  }

  /** Takes a copy of the next bytes of a body. */
  async takeBody(most: number): Promise<Uint8Array> {
    const end = Math.min(this.#end, this.#start + most);
    const length = end - this.#start;
    this.#bodyBytes += length;
    if (this.#bodyBytes > OWN) await this.#room.takeRequest(length);
    const piece = new Uint8Array(this.#bytes.subarray(this.#start, end));
    this.#start = this.#scanned = end;
    return piece;
  }

  /** Drops the buffered bytes; returns their number. */
  skip(): number {
    const { length } = this;
    this.#start = this.#scanned = this.#end;
    return length;
  }

  /**
   * Enlarges the buffer for a longer head, if it is full.
   *
   * @param isKnown Whether the first lines of a request carry the token.
   * @throws {ServeError} If the head is too long, or memory is short.
   */
  async makeRoom(isKnown: (lines: RequestLike) => boolean): Promise<void> {
    const bytes = this.#bytes;
    const { length } = bytes;
    if (this.length < length) return;
    if (length >= LONGEST_HEAD) {
      throw headTooLarge(`is larger than ${LONGEST_HEAD >> 10} KiB`);
    }
    if (
      length === LONGEST_UNKNOWN &&
      !isKnown(firstLines(bytes.toString("latin1")))
    ) {
      const most = `${LONGEST_UNKNOWN >> 10} KiB`;
      throw headTooLarge(
        `is larger than ${most}, and its first ${most} do not have the token`,
      );
    }
    const larger = 2 * length;
    if (larger > OWN) {
      await this.#room.takeRequest(larger - (length > OWN ? length : 0));
    }
    this.#replace(larger);
  }

  /** Shrinks the buffer after a request. */
  release(): void {
    this.#bodyBytes = 0;
    if (this.#bytes.length > READ && this.#reading === undefined) {
      const size = this.length <= READ ? READ : OWN;
      if (this.length <= size && size < this.#bytes.length) this.#replace(size);
    }
    const { length } = this.#bytes;
    this.#room.release(length > OWN ? length : 0);
  }

  end(): void {
    this.#room.release();
    const free = () => freeMemory(this.#bytes);
    if (this.#reading === undefined) free();
    else this.#reading.then(free, free);
  }

  #replace(size: number): void {
    const bytes = this.#bytes;
    this.#bytes = Buffer.alloc(size);
    bytes.copy(this.#bytes, 0, this.#start, this.#end);
    freeMemory(bytes);
    this.#end -= this.#start;
    this.#scanned -= this.#start;
    this.#start = 0;
  }
}

function headTooLarge(why: string): ServeError {
  return new ServeError("head-too-large", `The head of the request ${why}`);
}
