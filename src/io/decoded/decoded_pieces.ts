import { messageOf } from "../../base/message_text.ts";
import { PACKAGES } from "../../base/packages.ts";
import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { fill } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import type { PieceReader } from "./decoded_source.ts";
import type { Compression, DecodeFault } from "./inflate.ts";

/** Bytes of a stored form that are read at a time. */
const WINDOW = 1 << 18;

/**
 * Most bytes of a stored form that are decoded at a time. What they may become bounds the memory: deflate makes up to
 * 1,032 bytes of one, zstd 128 KiB of a block of 4 bytes (RFC 8878, 3.1.1.2), brotli 16 MiB of a few (RFC 7932, 9.2).
 */
const MOST_PIECE: Readonly<Record<Compression, number>> = {
  brotli: 64,
  deflate: 1 << 14,
  gzip: 1 << 14,
  zstd: 1 << 10,
};

/** Fewest. */
const LEAST_PIECE = 64;
/** Bytes of content that are made at a time, if that can be: in between, others get their turn. */
const MADE = 1 << 20;

type Fflate = typeof import("fflate");
type Minizlib = typeof import("minizlib");

let fflate: Fflate | undefined;
let minizlib: Minizlib | undefined;

/**
 * Loads what decodes piece by piece without waiting: the system's library can't. Where it is not waited for, contents
 * are decoded at once.
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

/** Whether {@linkcode DecodedPieces} can be made. */
export function decodesPieces(compression: Compression): boolean {
  return (compression === "deflate" ? fflate : minizlib) !== undefined;
}

/** Where an encoded content lies. */
export interface EncodedPlace {
  readonly source: ByteSource;
  readonly start: number;
  /** Bytes that it takes there. */
  readonly packed: number;
  /** Bytes of the content. */
  readonly size: number;
}

/** Decodes piece by piece, in little memory. */
export class DecodedPieces implements PieceReader {
  readonly #where: () => Steps<EncodedPlace>;
  readonly #fault: DecodeFault;
  readonly #mostStep: number;
  /** Bytes of the stored form that are decoded at a time, by what those before have become. */
  #step = LEAST_PIECE;
  readonly #push: Push;
  #place: EncodedPlace | undefined;
  #pieces: Uint8Array[] = [];
  /** Bytes of the stored form that were decoded, and of the content. */
  #read = 0;
  #done = 0;
  /** Bytes of content that the decoder has made. */
  #made = 0;
  #window = new Uint8Array(0);
  #windowStart = 0;

  /** @param where Says where the content lies, when the first piece is wanted. */
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
        throw this.#fault(`has ${this.#done} bytes and not ${size}`);
      }
      yield* this.#decode(place);
    }
    const piece = this.#pieces.shift()!;
    this.#done += piece.length;
    // All that is left belongs to the end, and has to add nothing.
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
      // A decoder looks at what it was given before.
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

/** Decodes some bytes more; throws where they are damaged. */
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
    ? new Unzip(options) // some who say gzip write zlib's own format
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
