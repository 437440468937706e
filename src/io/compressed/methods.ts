import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import {
  type Compression,
  compressionOf,
  COMPRESSIONS,
  INNER_COMPRESSIONS,
  LONGEST_MAGIC,
} from "./compressions.ts";
import type { Decoder } from "./decoder.ts";
import {
  type ResumedMember,
  TRAILERS,
  ZlibDecoder,
  ZstdDecoder,
} from "./native_decoders.ts";
import { isFfiPermitted } from "../libc/libc.ts";
import { nativeLibrary } from "./native_libraries.ts";
import { Bzip2Decoder, Lz4Decoder, XzDecoder } from "./other_decoders.ts";
import { loadPushDecoder, PushDecoder } from "./push_decoder.ts";

/** How streams of one compression are decoded. */
export interface Method {
  readonly compression: Compression;
  readonly longestMagic: number;
  /** Bytes behind what is resumed in the middle of a member: they cannot be compared with a part. */
  readonly trailer: number;
  /** Whether {@linkcode loadPushDecoder} must have ended before. */
  readonly needsPushDecoder: boolean;
  /** Whether a member begins here. */
  isMember(head: Uint8Array, isFirst: boolean): boolean;
  /** Returns the number of bytes at the start of `head` that are padding between members. */
  paddingOf(head: Uint8Array): number;
  /** Makes a decoder of a member, or of the rest of one. */
  decoder(from?: ResumedMember): Decoder;
}

function method(
  compression: Compression,
  decoder: Method["decoder"],
  others: Partial<Method> = {},
): Method {
  return {
    compression,
    longestMagic: LONGEST_MAGIC,
    trailer: 0,
    needsPushDecoder: false,
    isMember: (head) => compressionOf(head) === compression,
    paddingOf: () => 0,
    decoder,
    ...others,
  };
}

/** Counts zeros, with which tapes and some programs fill up the last block; gzip ignores them, too. */
function zerosOf(head: Uint8Array): number {
  const end = head.findIndex((byte) => byte !== 0);
  return end < 0 ? head.length : end;
}

/**
 * Returns how to decode a compressed file.
 *
 * @throws {FormatError} With code `unsupported` if that needs what is missing here.
 */
export function methodOf(compression: Compression, path: string): Method {
  const known = portableMethod(compression);
  if (known !== undefined) return known;
  const decoder = systemDecoder(compression.name);
  if (decoder !== undefined) return method(compression, ...decoder);
  const { name, command } = compression;
  const library = LIBRARIES[name];
  const needed = library === undefined
    ? "which is not read"
    : isFfiPermitted()
    ? `which needs ${library} of the system`
    : `which needs ${library} of the system, and --allow-ffi`;
  throw new FormatError(
    "unsupported",
    `Cannot open ${path}: it is compressed by ${name}, ${needed}. ` +
      `Decompress it (${command}), and open that`,
    { path, actual: name },
  );
}

/** Compressions of parts of containers. */
export type InnerCompression =
  | "brotli"
  | "bzip2"
  | "deflate"
  | "gzip"
  | "zlib"
  | "zstd";

/**
 * Returns how to decode a part of a container.
 *
 * @throws {FormatError} With code `unsupported` if that needs what is missing here.
 */
export function innerMethodOf(name: InnerCompression, path = ""): Method {
  const compression = name in INNER_COMPRESSIONS
    ? INNER_COMPRESSIONS[name as keyof typeof INNER_COMPRESSIONS]
    : COMPRESSIONS.find((known) => known.name === name)!;
  return methodOf(compression, path);
}

/**
 * Loads what decodes parts of containers in pieces, if it is not a library of the system. Where that would have to wait,
 * they are decoded at once instead.
 */
export function* loadInner(
  names: readonly InnerCompression[],
): Steps<void> {
  const isNeeded = names.some((name) => innerMethodOf(name).needsPushDecoder);
  if (isNeeded) yield* loadPushDecoder();
}

/** Returns how to decode what `node:zlib` can as well, and of which a library of the system can more. */
function portableMethod(compression: Compression): Method | undefined {
  const { name } = compression;
  if (name === "deflate" || name === "gzip" || name === "zlib") {
    const zlib = nativeLibrary("zlib");
    const others = {
      trailer: TRAILERS[name],
      needsPushDecoder: zlib === undefined,
      ...name === "gzip" ? { paddingOf: zerosOf } : { isMember: isFirstMember },
    };
    return method(
      compression,
      zlib === undefined
        ? () => new PushDecoder(name)
        : (from) => new ZlibDecoder(zlib, name, from),
      others,
    );
  }
  if (name === "brotli") {
    const others = { isMember: isFirstMember, needsPushDecoder: true };
    return method(compression, () => new PushDecoder(name), others);
  }
  if (name !== "zstd") return undefined;
  const zstd = nativeLibrary("zstd");
  return method(
    compression,
    zstd === undefined
      ? () => new PushDecoder("zstd")
      : () => new ZstdDecoder(zstd),
    { isMember: isZstdFrame, needsPushDecoder: zstd === undefined },
  );
}

/** For streams without a magic, of which there is one. */
function isFirstMember(_: Uint8Array, isFirst: boolean): boolean {
  return isFirst;
}

/** Libraries that are called where the system has them, and that have no substitute. */
const LIBRARIES: Partial<Record<Compression["name"], string>> = {
  bzip2: "libbz2",
  lz4: "liblz4",
  xz: "liblzma",
};

/** Returns how to decode what only a library of the system can; `undefined` if it is missing. */
function systemDecoder(
  name: Compression["name"],
): readonly [Method["decoder"], Partial<Method>] | undefined {
  if (name === "bzip2") {
    const bzip2 = nativeLibrary("bzip2");
    return bzip2 && [() => new Bzip2Decoder(bzip2), {}];
  }
  if (name === "xz") {
    const lzma = nativeLibrary("lzma");
    return lzma && [
      (from) => new XzDecoder(lzma, from?.window),
      { paddingOf: xzPaddingOf },
    ];
  }
  if (name === "lz4") {
    const lz4 = nativeLibrary("lz4");
    return lz4 && [() => new Lz4Decoder(lz4), { isMember: isLz4Frame }];
  }
  return undefined;
}

/** Padding of streams comes in fours (the .xz file format, 2.2). */
function xzPaddingOf(head: Uint8Array): number {
  const zeros = zerosOf(head);
  return zeros - zeros % 4;
}

/** Whether a frame begins here, or a skippable or a legacy one (LZ4 frame format, 1.6). */
function isLz4Frame(head: Uint8Array): boolean {
  const [a = 0, b, c, d] = head;
  if (a === 0x04) return b === 0x22 && c === 0x4d && d === 0x18;
  return a >> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18;
}

/** Whether a frame begins here, or a skippable one (RFC 8878, 3.1.2). */
function isZstdFrame(head: Uint8Array): boolean {
  const [a = 0, b, c, d] = head;
  if (a === 0x28) return b === 0xb5 && c === 0x2f && d === 0xfd;
  return a >> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18;
}
