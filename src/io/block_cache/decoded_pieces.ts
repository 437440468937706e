import { messageOf } from "../../base/message_text.ts";
import { PACKAGES } from "../../base/packages.ts";
import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { fill } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import type { PieceReader } from "./decoded_source.ts";
import type { Compression, DecodeFault } from "./inflate.ts";

const WINDOW = 1 << 18;

/**
 * Most encoded bytes decoded at a time. What they may expand to bounds the memory: deflate makes up to 1,032 bytes of
 * one, zstd 128 KiB of a block of 4 bytes (RFC 8878, 3.1.1.2), brotli 16 MiB of a few (RFC 7932, 9.2).
 */
const MOST_PIECE: Readonly<Record<Compression, number>> = {
  brotli: 64,
  deflate: 1 << 14,
  gzip: 1 << 14,
  zstd: 1 << 10,
};

const LEAST_PIECE = 64;
/** Target for decoded bytes at a time; in between, the event loop gets its turn. */
const MADE = 1 << 20;

type Fflate = typeof import("fflate");
type Minizlib = typeof import("minizlib");

let fflate: Fflate | undefined;
let minizlib: Minizlib | undefined;

/**
 * Loads a decoder that works in pieces without waiting, which `node:zlib` cannot. If loading is not possible without
 * waiting, contents are decoded at once instead.
 */
export function loadPieces(compression: Compression): Steps<void> {
  return perform({
    sync: () => {},
    async: async () => {
      if (compression === "deflate") fflate ??= await import(PACKAGES.fflate);
      else minizlib ??= await import(PACKAGES.minizlib);
    },
  });
}

export function decodesPieces(compression: Compression): boolean {
  return (compression === "deflate" ? fflate : minizlib) !== undefined;
}

export interface EncodedPlace {
  readonly source: ByteSource;
  readonly start: number;
  /** Encoded size in bytes. */
  readonly packed: number;
  /** Decoded size in bytes. */
  readonly size: number;
}

/** Decodes in pieces, with little memory. */
export class DecodedPieces implements PieceReader {
  readonly #where: () => Steps<EncodedPlace>;
  readonly #fault: DecodeFault;
  readonly #mostStep: number;
  /** Encoded bytes to decode next, adapted to how far earlier ones expanded. */
  #step = LEAST_PIECE;
  readonly #push: Push;
  #place: EncodedPlace | undefined;
  #pieces: Uint8Array[] = [];
  /** Encoded bytes consumed, and decoded bytes returned. */
  #read = 0;
  #done = 0;
  /** Decoded bytes that the decoder has produced. */
  #made = 0;
  #window = new Uint8Array(0);
  #windowStart = 0;

  /** @param where Returns the content's location; called for the first piece. */
  constructor(
    compression: Compression,
    where: () => Steps<EncodedPlace>,
    fault: DecodeFault,
  ) {
    this.#where = where;
    this.#fault = fault;
    this.#mostStep = MOST_PIECE[compression];
    this.#push = decoder(compression, (piece) => {
      this.#made += piece.length;
      if (piece.length > 0) this.#pieces.push(piece);
    });
  }

  *next(): Steps<Uint8Array> {
    const place = this.#place ??= yield* this.#where();
    const { packed, size } = place;
    while (this.#pieces.length === 0) {
      if (this.#read === packed) {
        throw this.#fault(`has ${this.#done} bytes, not ${size}`);
      }
      yield* this.#decode(place);
    }
    const piece = this.#pieces.shift()!;
    this.#done += piece.length;
    // The rest of the encoded data must not add content.
    while (this.#done === size && this.#read < packed) {
      yield* this.#decode(place);
      if (this.#pieces.length > 0) break;
    }
    const isOver = this.#done === size && this.#pieces.length > 0;
    if (this.#done > size || isOver) {
      throw this.#fault(`has more than its ${size} bytes`);
    }
    return piece;
  }

  *#decode({ source, start, packed }: EncodedPlace): Steps<void> {
    const from = this.#read - this.#windowStart;
    if (from === this.#window.length) {
      const length = Math.min(WINDOW, packed - this.#read);
      // The decoder still refers to the previous window's memory.
      this.#window = new Uint8Array(length);
      this.#windowStart = this.#read;
      yield* fill(source, this.#window, start + this.#read);
      return;
    }
    yield* perform(yieldWhenDue);
    const piece = this.#window.subarray(from, from + this.#step);
    this.#read += piece.length;
    const before = this.#made;
    try {
      this.#push(piece, this.#read === packed);
    } catch (cause) {
      const why = messageOf(cause);
      throw this.#fault(`can't be decompressed (${why})`, cause);
    }
    const made = this.#made - before;
    if (made > MADE) this.#step = Math.max(this.#step >> 1, LEAST_PIECE);
    else if (made < MADE / 4) {
      this.#step = Math.min(2 * this.#step, this.#mostStep);
    }
  }
}

type Push = (bytes: Uint8Array, isLast: boolean) => void;

function decoder(
  compression: Compression,
  onPiece: (piece: Uint8Array) => void,
): Push {
  if (compression === "deflate") {
    const inflate = new fflate!.Inflate(onPiece);
    return (bytes, isLast) => inflate.push(bytes, isLast);
  }
  const { BrotliDecompress, Unzip, ZstdDecompress } = minizlib!;
  const options = { sync: true, chunkSize: 1 << 16 } as object;
  const stream = compression === "zstd"
    ? new ZstdDecompress(options)
    : compression === "gzip"
    ? new Unzip(options) // some writers say gzip for zlib's own format
    : new BrotliDecompress(options);
  let failure: unknown;
  stream.on("error", (error: unknown) => failure = error);
  stream.on("data", (piece) => onPiece(piece as Uint8Array));
  return (bytes, isLast) => {
    stream.write(bytes as never);
    if (isLast && failure === undefined) stream.end();
    if (failure !== undefined) throw failure;
  };
}
