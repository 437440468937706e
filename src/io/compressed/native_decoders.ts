import { DecodeError, type Decoder } from "./decoder.ts";
import {
  addressOf,
  type NativeLibrary,
  nativeText,
} from "./native_libraries.ts";

/** From `zlib.h`. */
const Z_BLOCK = 5;
const Z_STREAM_END = 1;
const Z_BUF_ERROR = -5;
const Z_MEM_ERROR = -4;
/** Window bits that stand for what a deflate stream is wrapped in: a gzip member, RFC 1950, nothing. */
const WINDOW_BITS = { gzip: 15 + 16, zlib: 15, deflate: -15 } as const;
export type DeflateWrapper = keyof typeof WINDOW_BITS;
/** Bytes behind the deflate stream: CRC-32 and size (RFC 1952, 2.3), Adler-32 (RFC 1950, 2.2). */
export const TRAILERS: Readonly<Record<DeflateWrapper, number>> = {
  gzip: 8,
  zlib: 4,
  deflate: 0,
};
/** Flags of `data_type` after `Z_BLOCK`. */
const LAST_BLOCK = 64;
const AT_BOUNDARY = 128;
/** Size of `z_stream` where pointers and `long` have 64 bits, and words of its fields. */
const Z_STREAM_SIZE = 112;
const Z = { NEXT_IN: 0, AVAIL_IN: 2, NEXT_OUT: 6, AVAIL_OUT: 8, MSG: 12 };
const DATA_TYPE = 22;
const VERSION = new TextEncoder().encode("1.2.11\0");

/** Frees what decoders hold outside of JavaScript that were lost before they were closed. */
export const lost: FinalizationRegistry<() => void> = new FinalizationRegistry((
  free,
) => free());

/** State from which a deflate stream is decoded in its middle. */
export interface ResumedMember {
  /** What precedes. */
  readonly window: Uint8Array;
  /** Number of bits of the byte before the input that are not consumed, and their value. */
  readonly bits: number;
  readonly value: number;
}

/**
 * Decodes deflate streams by the system's zlib, which checks the checksum of their wrapper, and stops between deflate
 * blocks. What is resumed in the middle of a stream ends before its trailer.
 */
export class ZlibDecoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  spareBits: number | undefined;
  readonly #zlib: NativeLibrary<"zlib">;
  readonly #stream = new Uint32Array(Z_STREAM_SIZE / 4);
  readonly #bytes = new Uint8Array(this.#stream.buffer);
  readonly #pointers = new BigUint64Array(this.#stream.buffer);
  readonly #wrapper: DeflateWrapper;
  #isOpen = false;

  constructor(
    zlib: NativeLibrary<"zlib">,
    wrapper: DeflateWrapper,
    from?: ResumedMember,
  ) {
    this.#zlib = zlib;
    this.#wrapper = wrapper;
    if (from === undefined) this.reset();
    else this.#resume(from);
  }

  reset(): void {
    this.#init(WINDOW_BITS[this.#wrapper]);
  }

  #resume({ window, bits, value }: ResumedMember): void {
    this.#init(WINDOW_BITS.deflate);
    const { inflatePrime, inflateSetDictionary } = this.#zlib;
    if (bits > 0) inflatePrime(this.#bytes, bits, value);
    if (window.length === 0) return;
    const dictionary = window as Uint8Array<ArrayBuffer>;
    inflateSetDictionary(this.#bytes, dictionary, window.length);
  }

  #init(windowBits: number): void {
    this.close();
    this.#stream.fill(0);
    this.isEnd = false;
    const result = this.#zlib.inflateInit2_(
      this.#bytes,
      windowBits,
      VERSION,
      Z_STREAM_SIZE,
    );
    if (result !== 0) throw new DecodeError("zlib has no memory", true);
    this.#isOpen = true;
    const { inflateEnd } = this.#zlib;
    const bytes = this.#bytes;
    lost.register(this, () => void inflateEnd(bytes), this);
  }

  step(input: Uint8Array, output: Uint8Array): void {
    const words = this.#stream;
    this.#pointers[Z.NEXT_IN / 2] = input.length === 0 ? 0n : addressOf(input);
    this.#pointers[Z.NEXT_OUT / 2] = addressOf(output);
    words[Z.AVAIL_IN] = input.length;
    words[Z.AVAIL_OUT] = output.length;
    let result = this.#zlib.inflate(this.#bytes, Z_BLOCK);
    const afterLast = LAST_BLOCK | AT_BOUNDARY;
    if (result === 0 && (words[DATA_TYPE]! & afterLast) === afterLast) {
      // Without a trailer, no input is left at which it would notice the end.
      result = this.#zlib.inflate(this.#bytes, Z_BLOCK);
    }
    this.read = input.length - words[Z.AVAIL_IN]!;
    this.written = output.length - words[Z.AVAIL_OUT]!;
    if (result === Z_STREAM_END) this.isEnd = true;
    else if (result < 0 && result !== Z_BUF_ERROR) {
      throw new DecodeError(this.#messageOf(result), result === Z_MEM_ERROR);
    }
    const type = words[DATA_TYPE]!;
    const isBoundary = !this.isEnd && (type & AT_BOUNDARY) !== 0 &&
      (type & LAST_BLOCK) === 0;
    this.spareBits = isBoundary ? type & 7 : undefined;
  }

  #messageOf(result: number): string {
    const message = this.#pointers[Z.MSG / 2]!;
    return nativeText(Deno.UnsafePointer.create(message)) ??
      `error ${result} of zlib`;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    lost.unregister(this);
    this.#zlib.inflateEnd(this.#bytes);
  }
}

/** Decodes zstd frames by the system's library, which checks their checksums, and refuses windows over 128 MiB. */
export class ZstdDecoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  readonly #zstd: NativeLibrary<"zstd">;
  #context: Deno.PointerValue;
  /** `ZSTD_inBuffer` and `ZSTD_outBuffer`: address, size and position. */
  readonly #in = new BigUint64Array(3);
  readonly #out = new BigUint64Array(3);
  readonly #inBytes = new Uint8Array(this.#in.buffer);
  readonly #outBytes = new Uint8Array(this.#out.buffer);

  constructor(zstd: NativeLibrary<"zstd">) {
    this.#zstd = zstd;
    this.#context = zstd.ZSTD_createDCtx();
    if (this.#context === null) {
      throw new DecodeError("zstd has no memory", true);
    }
    const context = this.#context;
    lost.register(this, () => void zstd.ZSTD_freeDCtx(context), this);
  }

  /** The library begins a new frame by itself. */
  reset(): void {
    this.isEnd = false;
  }

  step(input: Uint8Array, output: Uint8Array): void {
    this.#in[0] = input.length === 0 ? 0n : addressOf(input);
    this.#in[1] = BigInt(input.length);
    this.#out[0] = addressOf(output);
    this.#out[1] = BigInt(output.length);
    this.#in[2] = this.#out[2] = 0n;
    const zstd = this.#zstd;
    const result = zstd.ZSTD_decompressStream(
      this.#context,
      this.#outBytes,
      this.#inBytes,
    );
    this.read = Number(this.#in[2]);
    this.written = Number(this.#out[2]);
    if (zstd.ZSTD_isError(result) !== 0) {
      const why = nativeText(zstd.ZSTD_getErrorName(result)) ?? "damaged";
      throw new DecodeError(why, /memory|window/i.test(why));
    }
    this.isEnd = result === 0n;
  }

  close(): void {
    if (this.#context === null) return;
    lost.unregister(this);
    this.#zstd.ZSTD_freeDCtx(this.#context);
    this.#context = null;
  }
}
