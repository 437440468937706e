import { blockOf, CACHE_BLOCK } from "./cache/block_store.ts";

interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes not read yet, if each is read once. */
  unread: number;
}

/** LRU cache of fetched bytes that are stored nowhere else. */
export class HeldBytes {
  readonly #most: number;
  readonly #onDrop: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly #pieces = new Set<Piece>();
  readonly #byBlock = new Map<number, Piece>();
  #bytes = 0;
  /** Whether bytes are dropped once they are read. */
  dropsWhatIsRead = false;

  /**
   * @param most Most bytes, or one piece.
   * @param onDrop Called with memory that is no longer needed.
   */
  constructor(most: number, onDrop: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.#most = most;
    this.#onDrop = onDrop;
  }

  has(block: number): boolean {
    return this.#byBlock.has(block);
  }

  /** Reads up to the first missing byte. */
  read(into: Uint8Array, offset: number): number {
    let done = 0;
    while (done < into.length) {
      const at = offset + done;
      const piece = this.#byBlock.get(blockOf(at));
      if (piece === undefined) break;
      this.#pieces.delete(piece);
      this.#pieces.add(piece);
      const from = at - piece.start;
      const part = piece.bytes.subarray(from, from + into.length - done);
      if (part.length === 0) break; // the end of the object
      into.set(part, done);
      done += part.length;
      piece.unread -= part.length;
      if (this.dropsWhatIsRead && piece.unread <= 0) this.#drop(piece);
    }
    return done;
  }

  /** Takes over bytes, which nobody may change from now on. */
  take(start: number, bytes: Uint8Array<ArrayBuffer>): void {
    const piece: Piece = { start, bytes, unread: bytes.length };
    this.#pieces.add(piece);
    this.#bytes += bytes.buffer.byteLength;
    for (let at = start; at < start + bytes.length; at += CACHE_BLOCK) {
      this.#byBlock.set(blockOf(at), piece);
    }
    for (const oldest of this.#pieces) {
      if (this.#bytes <= this.#most || oldest === piece) break;
      this.#drop(oldest);
    }
  }

  invalidate(first: number, last: number): void {
    for (let block = first; block <= last; block++) this.#byBlock.delete(block);
  }

  clear(): void {
    for (const piece of this.#pieces) this.#drop(piece);
  }

  #drop(piece: Piece): void {
    const { start, bytes } = piece;
    this.#pieces.delete(piece);
    for (let at = start; at < start + bytes.length; at += CACHE_BLOCK) {
      const block = blockOf(at);
      if (this.#byBlock.get(block) === piece) this.#byBlock.delete(block);
    }
    this.#bytes -= bytes.buffer.byteLength;
    this.#onDrop(bytes);
  }
}
