import { messageOf } from "../../base/message_text.ts";
import { perform, runSync, type Steps } from "../concurrency/steps.ts";
import { systemDecoder } from "./system_decoder.ts";

/** Makes the error of a fault in a content, whose name the caller knows. */
export type DecodeFault = (why: string, cause?: unknown) => Error;

type Zlib = typeof import("node:zlib");

function zlib(): Zlib {
  return process.getBuiltinModule("node:zlib");
}

export type Compression = "brotli" | "deflate" | "gzip" | "zstd";

/** Size up to which another thread costs more than it saves. */
const SMALL = 1 << 16;

/** Decompresses bytes into memory of their size. Throws what `fault` returns if they are damaged or of another size. */
export function* decompress(
  bytes: Uint8Array,
  compression: Compression,
  into: Uint8Array,
  fault: DecodeFault,
): Steps<void> {
  const decoder = compression === "deflate" || compression === "zstd"
    ? systemDecoder(compression)
    : undefined;
  if (decoder !== undefined) {
    const isSmall = Math.max(bytes.length, into.length) <= SMALL;
    const isDone = isSmall ? decoder.decode(bytes, into) : yield* perform({
      sync: () => decoder.decode(bytes, into),
      async: () => decoder.decodeElsewhere(bytes, into),
    });
    if (isDone) return; // otherwise zlib says why
  }
  into.set(yield* decompressed(bytes, compression, into.length, fault));
}

/** {@linkcode decompress} without waiting, and without a procedure if the system has a decoder. */
export function decompressNow(
  bytes: Uint8Array,
  compression: "deflate" | "zstd",
  into: Uint8Array,
  fault: DecodeFault,
): void {
  const isDone = systemDecoder(compression)?.decode(bytes, into) === true;
  if (!isDone) runSync(decompress(bytes, compression, into, fault));
}

/** {@linkcode decompress} into memory allocated as data comes, not by the declared size. */
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
    const why = messageOf(cause);
    throw fault(`can't be decompressed (${why})`, cause);
  }
  if (decoded.length === size) return decoded;
  throw fault(`has ${decoded.length} bytes, not ${size}`);
}

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
      // Some writers say gzip for zlib's own format.
      return { sync: all.unzipSync, async: all.unzip };
    case "zstd":
      // If the stream's checksum is wrong, Deno 2.9.6 throws where it cannot be caught, and never calls back.
      return { sync: all.zstdDecompressSync, async: undefined };
  }
}
