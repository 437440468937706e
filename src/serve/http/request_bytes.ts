import { Buffer } from "node:buffer";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import { HeadScanner } from "./head_scanner.ts";
import { type ConnectionRoom, freeMemory, OWN } from "./memory.ts";
import { firstLines } from "./request_head.ts";

/** Bytes that are read at a time, unless the head of a request is longer. */
const READ = 8 << 10;
/** Longest head of a request, in bytes: one with 1,000 ranges is told that it has too many. */
const LONGEST_HEAD = 256 << 10;
/** The same of a client that has not said the token in its first so many bytes. */
const LONGEST_UNKNOWN = OWN;
const CR = 0x0d;

/** The bytes of a connection's requests, as they are read. */
export class RequestBytes {
  readonly #conn: Deno.Conn;
  readonly #room: ConnectionRoom;
  readonly #scanner = new HeadScanner();
  /** What was read; from {@linkcode RequestBytes.#start} to {@linkcode RequestBytes.#end} nobody has taken. */
  #bytes = Buffer.alloc(READ);
  #start = 0;
  #end = 0;
  /** Up to where these were looked through for the end of a head. */
  #scanned = 0;
  /** A read that is under way: it writes into these bytes, which must stay in their place. */
  #reading: Promise<boolean> | undefined;
  /** Bytes of a body that were taken. */
  #bodyBytes = 0;
  /** Whether anything was ever read. */
  hasRead = false;

  constructor(conn: Deno.Conn, room: ConnectionRoom) {
    this.#conn = conn;
    this.#room = room;
  }

  /** How many bytes are there. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Waits for more bytes, for which there is room, or none of those before is wanted; tells whether some came. */
  async read(): Promise<boolean> {
    this.#reading ??= this.#read();
    try {
      return await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  /**
   * Begins the next read now, if there is room, to notice that the client leaves.
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

  /** Finds the end of the next head: as {@linkcode HeadScanner.scan}. */
  findHead(): number {
    const end = this.#scanner.scan(this.#bytes, this.#scanned, this.#end);
    this.#scanned = end > 0 ? end : this.#end;
    return end;
  }

  /** Takes the head that ends there, as text of a byte a character. */
  takeHead(end: number): string {
    const hasEmptyLine = this.#bytes[this.#start] === CR;
    const start = this.#start + (hasEmptyLine ? 2 : 0);
    this.#start = end;
    return this.#bytes.toString("latin1", start, end);
  }

  /** Takes the next bytes of a body, as a copy: so many at most. */
  async takeBody(most: number): Promise<Uint8Array> {
    const end = Math.min(this.#end, this.#start + most);
    const length = end - this.#start;
    this.#bodyBytes += length;
    if (this.#bodyBytes > OWN) await this.#room.takeRequest(length);
    const piece = new Uint8Array(this.#bytes.subarray(this.#start, end));
    this.#start = this.#scanned = end;
    return piece;
  }

  /** Drops the bytes that are there; tells how many. */
  skip(): number {
    const { length } = this;
    this.#start = this.#scanned = this.#end;
    return length;
  }

  /**
   * Makes room for a longer head, where there is none.
   *
   * @param isKnown Whether the first lines of a request say the token.
   * @throws {ServeError} If it may not be so long, or there is no memory for it.
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

  /** Gives back the memory of a request that was answered. */
  release(): void {
    this.#bodyBytes = 0;
    if (this.#bytes.length > READ && this.#reading === undefined) {
      const size = this.length <= READ ? READ : OWN;
      if (this.length <= size && size < this.#bytes.length) this.#replace(size);
    }
    const { length } = this.#bytes;
    this.#room.release(length > OWN ? length : 0);
  }

  /** Gives back all memory. */
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
