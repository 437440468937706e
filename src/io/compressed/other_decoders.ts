import { DecodeError, type Decoder } from "./decoder.ts";
import { lost } from "./native_decoders.ts";
import {
  addressOf,
  type NativeLibrary,
  nativeText,
} from "./native_libraries.ts";

/** From `bzlib.h`: results, and the size of `bz_stream` where pointers have 64 bits, with words of its fields. */
const BZ_STREAM_END = 4;
const BZ_MEM_ERROR = -3;
const BZ_STREAM_SIZE = 80;
const BZ = { NEXT_IN: 0, AVAIL_IN: 2, NEXT_OUT: 6, AVAIL_OUT: 8 };
const BZ_MESSAGES: Readonly<Record<string, string>> = {
  "-4": "its data is damaged",
  "-5": "it has another header than bzip2's",
};

/** Decodes bzip2 streams by the system's library, which checks their checksums. */
export class Bzip2Decoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  readonly #bzip2: NativeLibrary<"bzip2">;
  readonly #words = new Uint32Array(BZ_STREAM_SIZE / 4);
  readonly #bytes = new Uint8Array(this.#words.buffer);
  readonly #pointers = new BigUint64Array(this.#words.buffer);
  #isOpen = false;

  constructor(bzip2: NativeLibrary<"bzip2">) {
    this.#bzip2 = bzip2;
    this.reset();
  }

  reset(): void {
    this.close();
    this.#words.fill(0);
    this.isEnd = false;
    if (this.#bzip2.BZ2_bzDecompressInit(this.#bytes, 0, 0) !== 0) {
      throw new DecodeError("bzip2 has no memory", true);
    }
    this.#isOpen = true;
    const { BZ2_bzDecompressEnd } = this.#bzip2;
    const bytes = this.#bytes;
    lost.register(this, () => void BZ2_bzDecompressEnd(bytes), this);
  }

  step(input: Uint8Array, output: Uint8Array): void {
    const words = this.#words;
    this.#pointers[BZ.NEXT_IN / 2] = input.length === 0 ? 0n : addressOf(input);
    this.#pointers[BZ.NEXT_OUT / 2] = addressOf(output);
    words[BZ.AVAIL_IN] = input.length;
    words[BZ.AVAIL_OUT] = output.length;
    const result = this.#bzip2.BZ2_bzDecompress(this.#bytes);
    this.read = input.length - words[BZ.AVAIL_IN]!;
    this.written = output.length - words[BZ.AVAIL_OUT]!;
    if (result < 0) {
      const why = BZ_MESSAGES[result] ?? `error ${result} of bzip2`;
      throw new DecodeError(why, result === BZ_MEM_ERROR);
    }
    this.isEnd = result === BZ_STREAM_END;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    lost.unregister(this);
    this.#bzip2.BZ2_bzDecompressEnd(this.#bytes);
  }
}

/** From `lzma/base.h`: results, and the size of `lzma_stream` where pointers have 64 bits, with 64-bit fields. */
const LZMA_OK = 0;
const LZMA_STREAM_END = 1;
const LZMA_BUF_ERROR = 10;
const LZMA_STREAM_SIZE = 136;
const LZMA = { NEXT_IN: 0, AVAIL_IN: 1, NEXT_OUT: 3, AVAIL_OUT: 4 };
const LZMA_MESSAGES: Readonly<Record<number, string>> = {
  5: "xz has no memory",
  6: "it needs more than 256 MiB of memory",
  7: "it has another header than xz's",
  8: "it is compressed in a way that this version of the library does not know",
  9: "its data is damaged",
};
/** Most memory of a decoder in bytes: xz -9 takes 65 MiB. */
const LZMA_MEMORY = 256n << 20n;
/** `LZMA_IGNORE_CHECK` is not among them: what is decoded is compared. */
const LZMA_FLAGS = 0;

/** Decodes xz streams by the system's library, which checks their checksums. */
export class XzDecoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  readonly #lzma: NativeLibrary<"lzma">;
  readonly #fields = new BigUint64Array(LZMA_STREAM_SIZE / 8);
  readonly #bytes = new Uint8Array(this.#fields.buffer);

  /** @param header Header of a stream, to decode blocks from its middle. */
  constructor(lzma: NativeLibrary<"lzma">, header?: Uint8Array) {
    this.#lzma = lzma;
    this.reset();
    if (header !== undefined) this.step(header, new Uint8Array(1));
  }

  reset(): void {
    this.close();
    this.isEnd = false;
    const { lzma_stream_decoder, lzma_end } = this.#lzma;
    const result = lzma_stream_decoder(this.#bytes, LZMA_MEMORY, LZMA_FLAGS);
    if (result !== LZMA_OK) throw new DecodeError("xz has no memory", true);
    const bytes = this.#bytes;
    lost.register(this, () => lzma_end(bytes), this);
  }

  step(input: Uint8Array, output: Uint8Array): void {
    const fields = this.#fields;
    fields[LZMA.NEXT_IN] = input.length === 0 ? 0n : addressOf(input);
    fields[LZMA.AVAIL_IN] = BigInt(input.length);
    fields[LZMA.NEXT_OUT] = addressOf(output);
    fields[LZMA.AVAIL_OUT] = BigInt(output.length);
    const result = this.#lzma.lzma_code(this.#bytes, 0);
    this.read = input.length - Number(fields[LZMA.AVAIL_IN]);
    this.written = output.length - Number(fields[LZMA.AVAIL_OUT]);
    this.isEnd = result === LZMA_STREAM_END;
    const isRight = result === LZMA_OK || this.isEnd ||
      result === LZMA_BUF_ERROR;
    if (isRight) return;
    const why = LZMA_MESSAGES[result] ?? `error ${result} of xz`;
    throw new DecodeError(why, result === 5 || result === 6 || result === 8);
  }

  close(): void {
    lost.unregister(this);
    this.#lzma.lzma_end(this.#bytes); // does nothing to a stream of zeros
    this.#fields.fill(0n);
  }
}

/** `LZ4F_VERSION` of `lz4frame.h`. */
const LZ4F_VERSION = 100;

/** Decodes lz4 frames by the system's library, which checks their checksums. */
export class Lz4Decoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  readonly #lz4: NativeLibrary<"lz4">;
  #context: Deno.PointerValue;
  /** Sizes of the output and of the input, which the library replaces by what it used. */
  readonly #sizes = new BigUint64Array(2);
  readonly #outSize = new Uint8Array(this.#sizes.buffer, 0, 8);
  readonly #inSize = new Uint8Array(this.#sizes.buffer, 8, 8);

  constructor(lz4: NativeLibrary<"lz4">) {
    this.#lz4 = lz4;
    const made = new BigUint64Array(1);
    const bytes = new Uint8Array(made.buffer);
    const result = lz4.LZ4F_createDecompressionContext(bytes, LZ4F_VERSION);
    if (lz4.LZ4F_isError(result) !== 0) {
      throw new DecodeError("lz4 has no memory", true);
    }
    const context = Deno.UnsafePointer.create(made[0]!);
    this.#context = context;
    const { LZ4F_freeDecompressionContext } = lz4;
    lost.register(
      this,
      () => void LZ4F_freeDecompressionContext(context),
      this,
    );
  }

  /** The library begins a new frame by itself. */
  reset(): void {
    this.isEnd = false;
  }

  step(input: Uint8Array, output: Uint8Array): void {
    const lz4 = this.#lz4;
    this.#sizes[0] = BigInt(output.length);
    this.#sizes[1] = BigInt(input.length);
    const result = lz4.LZ4F_decompress(
      this.#context,
      output as Uint8Array<ArrayBuffer>,
      this.#outSize,
      input as Uint8Array<ArrayBuffer>,
      this.#inSize,
      null,
    );
    if (lz4.LZ4F_isError(result) !== 0) {
      throw new DecodeError(
        nativeText(lz4.LZ4F_getErrorName(result)) ?? "damaged",
      );
    }
    this.written = Number(this.#sizes[0]);
    this.read = Number(this.#sizes[1]);
    this.isEnd = result === 0n;
  }

  close(): void {
    if (this.#context === null) return;
    lost.unregister(this);
    this.#lz4.LZ4F_freeDecompressionContext(this.#context);
    this.#context = null;
  }
}
