import { BLOCK, blockOf } from "./cache/block_store.ts";

/** Bytes of whole blocks that lie one behind the other. */
interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How many of them have not been read, where each is read once. */
  unread: number;
}

/** What was fetched, and is kept nowhere but in memory: what was used last. */
export class HeldBytes {
  readonly #most: number;
  readonly #onDrop: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** In order of use. */
  readonly #pieces = new Set<Piece>();
  readonly #byBlock = new Map<number, Piece>();
  #bytes = 0;
  /** Whether nobody reads anything twice. */
  dropsWhatIsRead = false;

  /**
   * Holds nothing yet.
   *
   * @param most How many bytes at most, or one piece.
   * @param onDrop Given memory that it needs no more.
   */
  constructor(most: number, onDrop: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.#most = most;
    this.#onDrop = onDrop;
  }

  has(block: number): boolean {
    return this.#byBlock.has(block);
  }

  /** Reads what is there, up to the first byte that is not. */
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
      if (part.length === 0) break; // the object's end
      into.set(part, done);
      done += part.length;
      piece.unread -= part.length;
      if (this.dropsWhatIsRead && piece.unread <= 0) this.#drop(piece);
    }
    return done;
  }

  /** Takes bytes over, which nobody changes from now on. */
  take(start: number, bytes: Uint8Array<ArrayBuffer>): void {
    const piece: Piece = { start, bytes, unread: bytes.length };
    this.#pieces.add(piece);
    this.#bytes += bytes.buffer.byteLength;
    for (let at = start; at < start + bytes.length; at += BLOCK) {
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
    for (let at = start; at < start + bytes.length; at += BLOCK) {
      const block = blockOf(at);
      if (this.#byBlock.get(block) === piece) this.#byBlock.delete(block);
    }
    this.#bytes -= bytes.buffer.byteLength;
    this.#onDrop(bytes);
  }
}
