import { messageOf } from "../../base/message_text.ts";
import { PACKAGES } from "../../base/packages.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { mustWait } from "../storage/must_wait.ts";
import { DecodeError, type Decoder } from "./decoder.ts";
import { ZstdFrameEnd } from "./zstd_frame.ts";

type Minizlib = typeof import("minizlib");

let minizlib: Minizlib | undefined;

/**
 * Loads what {@linkcode PushDecoder} needs.
 *
 * @param path File that cannot be read otherwise. Without one, nothing is loaded where that would have to wait.
 */
export function* loadPushDecoder(path?: string): Steps<void> {
  if (minizlib !== undefined) return;
  yield* perform({
    sync() {
      if (path !== undefined) throw mustWait(path);
    },
    async: async () => void (minizlib = await import(PACKAGES.minizlib)),
  });
}

/**
 * Encoded bytes decoded at a time, so that what they expand to is bounded: deflate makes up to 1,032 bytes of one, zstd
 * 128 KiB of a block of 4 (RFC 8878, 3.1.1.2), brotli 16 MiB of a few (RFC 7932, 9.2).
 */
const PIECE = {
  brotli: 64,
  deflate: 1 << 14,
  gzip: 1 << 14,
  zlib: 1 << 14,
  zstd: 1 << 10,
} as const;

/** Whether {@linkcode loadPushDecoder} has ended. */
export function isPushDecoderLoaded(): boolean {
  return minizlib !== undefined;
}

/**
 * Decodes through `node:zlib`, where the system's libraries cannot be called. It does not tell where gzip members end, so
 * all that follow are taken for one.
 */
export class PushDecoder implements Decoder {
  read = 0;
  written = 0;
  isEnd = false;
  readonly #compression: keyof typeof PIECE;
  #stream: InstanceType<Minizlib["Unzip"]>;
  #frame = new ZstdFrameEnd();
  readonly #pieces: Uint8Array[] = [];
  #failure: unknown;
  #hasEnded = false;

  /** {@linkcode loadPushDecoder} must have ended. */
  constructor(compression: keyof typeof PIECE) {
    this.#compression = compression;
    this.#stream = this.#newStream();
  }

  #newStream(): InstanceType<Minizlib["Unzip"]> {
    const options = { sync: true, chunkSize: 1 << 16 } as object;
    const Stream = this.#classOf(minizlib!);
    const stream = new Stream(options);
    stream.on("error", (error: unknown) => this.#failure = error);
    stream.on("data", (piece) => this.#pieces.push(piece as Uint8Array));
    return stream as InstanceType<Minizlib["Unzip"]>;
  }

  #classOf(
    { BrotliDecompress, Gunzip, Inflate, InflateRaw, ZstdDecompress }: Minizlib,
  ) {
    switch (this.#compression) {
      case "brotli":
        return BrotliDecompress;
      case "deflate":
        return InflateRaw;
      case "gzip":
        return Gunzip;
      case "zlib":
        return Inflate;
      case "zstd":
        return ZstdDecompress;
    }
  }

  reset(): void {
    this.close();
    this.#stream = this.#newStream();
    this.#frame = new ZstdFrameEnd();
    this.#hasEnded = this.isEnd = false;
  }

  step(input: Uint8Array, output: Uint8Array, isLast: boolean): void {
    this.read = this.written = 0;
    if (this.#pieces.length === 0) this.#push(input, isLast);
    while (this.#pieces.length > 0 && this.written < output.length) {
      const [piece] = this.#pieces as [Uint8Array];
      const part = piece.subarray(0, output.length - this.written);
      output.set(part, this.written);
      this.written += part.length;
      if (part.length < piece.length) {
        this.#pieces[0] = piece.subarray(part.length);
      } else this.#pieces.shift();
    }
    this.isEnd = this.#hasEnded && this.#pieces.length === 0;
  }

  #push(input: Uint8Array, isLast: boolean): void {
    let piece = input.slice(0, PIECE[this.#compression]);
    const isFrame = this.#compression === "zstd";
    if (isFrame) piece = piece.subarray(0, this.#frame.take(piece));
    this.read = piece.length;
    if (this.#frame.isSkippable) {
      this.#hasEnded = this.#frame.isOver;
      return;
    }
    const isAll = isFrame
      ? this.#frame.isOver
      : isLast && piece.length === input.length;
    try {
      this.#stream.write(piece as never);
      if (isAll) {
        if (this.#failure === undefined) this.#stream.end();
        this.#hasEnded = true;
      }
    } catch (error) {
      this.#failure ??= error;
    }
    if (this.#failure !== undefined) {
      throw new DecodeError(messageOf(this.#failure));
    }
  }

  close(): void {
    this.#stream.close?.();
  }
}
