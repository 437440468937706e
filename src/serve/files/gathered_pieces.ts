import { nextPiece, type ResponseRoom } from "../response_room.ts";

/** Bytes of a piece. */
const GATHERED = 1 << 18;

type Piece = Uint8Array<ArrayBuffer>;

/** Joins the parts of a body into pieces. A piece is valid until the next is requested. */
export class GatheredPieces {
  readonly #room: ResponseRoom | undefined;
  readonly #bytes: number;
  #piece: Piece = NOTHING;
  #filled = 0;

  /** @param bytes Maximum size of a piece. */
  constructor(room: ResponseRoom | undefined, bytes = GATHERED) {
    this.#room = room;
    this.#bytes = Math.min(bytes, GATHERED);
  }

  /** Reserves bytes in the current piece, if it has room, to be filled before the piece is requested. */
  place(length: number): Piece | undefined {
    const start = this.#filled;
    if (length > this.#piece.length - start) return undefined;
    this.#filled += length;
    return this.#piece.subarray(start, this.#filled);
  }

  /** Adds bytes; yields the pieces that they fill. */
  *add(bytes: Uint8Array): Generator<Piece, void, undefined> {
    for (let done = 0; done < bytes.length;) {
      if (this.#filled === this.#piece.length) yield* this.#next();
      const part = bytes.subarray(
        done,
        done + this.#piece.length - this.#filled,
      );
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      done += part.length;
    }
  }

  /** Adds bytes that `fill` reads, one part at a time. */
  async *addBy(
    length: number,
    fill: (into: Uint8Array) => Promise<void>,
  ): AsyncGenerator<Piece, void, undefined> {
    for (let done = 0; done < length;) {
      if (this.#filled === this.#piece.length) yield* this.#next();
      const start = this.#filled;
      const into = this.#piece.subarray(start, start + length - done);
      await fill(into);
      this.#filled += into.length;
      done += into.length;
    }
  }

  /** Yields the last piece. */
  *end(): Generator<Piece, void, undefined> {
    if (this.#filled > 0) yield this.#piece.subarray(0, this.#filled);
  }

  *#next(): Generator<Piece, void, undefined> {
    yield* this.end();
    this.#piece = nextPiece(this.#room, this.#bytes);
    this.#filled = 0;
  }
}

const NOTHING: Piece = new Uint8Array(0);
