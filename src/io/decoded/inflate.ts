import { PACKAGES } from "../../packages.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { fill } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import type { PieceReader } from "./decoded_source.ts";
import { libdeflate } from "./libdeflate.ts";

/** Says what is wrong with a content; whoever knows its name makes an error of it. */
export type DecodeFault = (why: string, cause?: unknown) => Error;

/** Bytes of a stored form that are decoded at a time: they make up to 16 MiB. */
const PIECE = 1 << 14;
/** Bytes of it that are read at a time. */
const WINDOW = 1 << 18;

type Zlib = typeof import("node:zlib");

function zlib(): Zlib {
  return process.getBuiltinModule("node:zlib");
}

/** How contents are compressed that are decoded at once. */
export type Compression = "brotli" | "deflate" | "gzip" | "zstd";

/**
 * Decodes bytes at once.
 *
 * @param into Has the size of the content.
 * @throws What `fault` makes, if they are damaged, or of another size.
 */
export function* decompress(
  bytes: Uint8Array,
  compression: Compression,
  into: Uint8Array,
  fault: DecodeFault,
): Steps<void> {
  if (compression === "deflate" && (yield* inflateWhole(bytes, into))) return;
  into.set(yield* decompressed(bytes, compression, into.length, fault));
}

/** Inflates by the quickest library, if that is here; what is wrong it does not tell. */
function* inflateWhole(bytes: Uint8Array, into: Uint8Array): Steps<boolean> {
  const library = libdeflate();
  if (library === undefined) return false;
  return yield* perform({
    sync: () => library.inflate(bytes, into),
    async: () => library.inflateElsewhere(bytes, into),
  });
}

/** {@linkcode decompress} to memory that is taken as the content comes, and not by its size. */
export function* decompressed(
  bytes: Uint8Array,
  compression: Compression,
  size: number,
  fault: DecodeFault,
): Steps<Uint8Array> {
  const options = { maxOutputLength: Math.max(1, size) };
  let decoded: Uint8Array;
  try {
    decoded = yield* perform<Uint8Array>({
      sync: () => decoder(compression).sync(bytes, options),
      async: () =>
        new Promise((resolve, reject) => {
          const { sync, async } = decoder(compression);
          if (async === undefined) return resolve(sync(bytes, options));
          async(
            bytes,
            options,
            (error, result) => error ? reject(error) : resolve(result),
          );
        }),
    });
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === "ERR_BUFFER_TOO_LARGE") {
      throw fault(`has more than its ${size} bytes`, cause);
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw fault(`can't be decompressed (${why})`, cause);
  }
  if (decoded.length === size) return decoded;
  throw fault(`has ${decoded.length} bytes and not ${size}`);
}

/** The system's library, as it waits and as it doesn't. */
interface Decoder {
  readonly sync: (bytes: Uint8Array, options: DecoderOptions) => Uint8Array;
  readonly async:
    | ((
      bytes: Uint8Array,
      options: DecoderOptions,
      done: (error: Error | null, result: Uint8Array) => void,
    ) => void)
    | undefined;
}

interface DecoderOptions {
  readonly maxOutputLength: number;
}

function decoder(compression: Compression): Decoder {
  const all = zlib();
  switch (compression) {
    case "brotli":
      return { sync: all.brotliDecompressSync, async: all.brotliDecompress };
    case "deflate":
      return { sync: all.inflateRawSync, async: all.inflateRaw };
    case "gzip":
      // Some who say gzip write zlib's own format.
      return { sync: all.unzipSync, async: all.unzip };
    case "zstd":
      // Where the stream's own checksum is wrong, Deno 2.9.6 throws that where nobody can catch it, and never answers.
      return { sync: all.zstdDecompressSync, async: undefined };
  }
}

type Fflate = typeof import("fflate");

let inflate: Fflate["Inflate"] | undefined;

/**
 * Loads what inflates piece by piece without waiting: the system's library can't. Where it is not waited for, contents
 * are inflated at once.
 */
export function loadInflate(): Steps<void> {
  return perform({
    sync: () => {},
    async: async () => {
      const loaded: Fflate = await import(PACKAGES.fflate);
      inflate = loaded.Inflate;
    },
  });
}

/** Where a content lies that was deflated. */
export interface Deflated {
  readonly source: ByteSource;
  readonly start: number;
  /** Bytes that it takes there. */
  readonly packed: number;
  /** Bytes of the content. */
  readonly size: number;
}

/** Whether {@linkcode InflatePieces} can be made. */
export function inflatesPieces(): boolean {
  return inflate !== undefined;
}

/** Inflates piece by piece, in little memory. */
export class InflatePieces implements PieceReader {
  readonly #where: () => Steps<Deflated>;
  readonly #fault: DecodeFault;
  #deflated: Deflated | undefined;
  readonly #inflate: InstanceType<Fflate["Inflate"]>;
  #pieces: Uint8Array[] = [];
  /** Bytes of the stored form that were decoded, and of the content. */
  #read = 0;
  #done = 0;
  #window = new Uint8Array(0);
  #windowStart = 0;

  /** @param where Says where it lies, when the first piece is wanted. */
  constructor(where: () => Steps<Deflated>, fault: DecodeFault) {
    this.#where = where;
    this.#fault = fault;
    this.#inflate = new inflate!((piece) => {
      if (piece.length > 0) this.#pieces.push(piece);
    });
  }

  *next(): Steps<Uint8Array> {
    const deflated = this.#deflated ??= yield* this.#where();
    const { packed, size } = deflated;
    while (this.#pieces.length === 0) {
      if (this.#read === packed) {
        throw this.#fault(`has ${this.#done} bytes and not ${size}`);
      }
      yield* this.#decode(deflated);
    }
    const piece = this.#pieces.shift()!;
    this.#done += piece.length;
    // All that is left belongs to the end, and has to add nothing.
    while (this.#done === size && this.#read < packed) {
      yield* this.#decode(deflated);
    }
    const isOver = this.#done === size && this.#pieces.length > 0;
    if (this.#done > size || isOver) {
      throw this.#fault(`has more than its ${size} bytes`);
    }
    return piece;
  }

  *#decode({ source, start, packed }: Deflated): Steps<void> {
    const from = this.#read - this.#windowStart;
    if (from === this.#window.length) {
      const length = Math.min(WINDOW, packed - this.#read);
      // It looks at what it was given before.
      this.#window = new Uint8Array(length);
      this.#windowStart = this.#read;
      yield* fill(source, this.#window, start + this.#read);
      return;
    }
    const piece = this.#window.subarray(from, from + PIECE);
    this.#read += piece.length;
    try {
      this.#inflate.push(piece, this.#read === packed);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw this.#fault(`can't be decompressed (${why})`, cause);
    }
  }
}
