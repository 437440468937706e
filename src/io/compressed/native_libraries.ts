import { isFfiPermitted } from "../libc/libc.ts";
import {
  type LibraryNames,
  openLibrary,
  ZSTD_NAMES,
} from "../libc/system_library.ts";

function returning<
  Result extends Deno.NativeResultType,
  const Parameters extends readonly Deno.NativeType[],
>(result: Result, ...parameters: Parameters) {
  return { result, parameters } as const;
}

/** Functions of `zlib.h`; lengths of 64 bits that are small are declared `u32` or `usize`. */
const ZLIB = {
  inflateInit2_: returning("i32", "buffer", "i32", "buffer", "i32"),
  inflate: returning("i32", "buffer", "i32"),
  inflateEnd: returning("i32", "buffer"),
  inflateSetDictionary: returning("i32", "buffer", "buffer", "u32"),
  inflatePrime: returning("i32", "buffer", "i32", "i32"),
} as const satisfies Deno.ForeignLibraryInterface;

/** Functions of `zstd.h`. */
const ZSTD = {
  ZSTD_createDCtx: returning("pointer"),
  ZSTD_freeDCtx: returning("usize", "pointer"),
  ZSTD_decompressStream: returning("usize", "pointer", "buffer", "buffer"),
  ZSTD_isError: returning("u32", "usize"),
  ZSTD_getErrorName: returning("pointer", "usize"),
} as const satisfies Deno.ForeignLibraryInterface;

/** Functions of `bzlib.h`. */
const BZIP2 = {
  BZ2_bzDecompressInit: returning("i32", "buffer", "i32", "i32"),
  BZ2_bzDecompress: returning("i32", "buffer"),
  BZ2_bzDecompressEnd: returning("i32", "buffer"),
} as const satisfies Deno.ForeignLibraryInterface;

/** Functions of `lzma.h`. */
const LZMA = {
  lzma_stream_decoder: returning("i32", "buffer", "u64", "u32"),
  lzma_code: returning("i32", "buffer", "i32"),
  lzma_end: returning("void", "buffer"),
} as const satisfies Deno.ForeignLibraryInterface;

/** Functions of `lz4frame.h`. */
const LZ4 = {
  LZ4F_createDecompressionContext: returning("usize", "buffer", "u32"),
  LZ4F_freeDecompressionContext: returning("usize", "pointer"),
  LZ4F_decompress: returning(
    "usize",
    ...["pointer", "buffer", "buffer", "buffer", "buffer", "pointer"] as const,
  ),
  LZ4F_isError: returning("u32", "usize"),
  LZ4F_getErrorName: returning("pointer", "usize"),
} as const satisfies Deno.ForeignLibraryInterface;

const INTERFACES = {
  bzip2: BZIP2,
  lz4: LZ4,
  lzma: LZMA,
  zlib: ZLIB,
  zstd: ZSTD,
} as const;

const NAMES: Readonly<Record<keyof typeof INTERFACES, LibraryNames>> = {
  bzip2: {
    linux: ["libbz2.so.1.0", "libbz2.so.1"],
    darwin: ["libbz2.1.0.dylib"],
  },
  lz4: {
    linux: ["liblz4.so.1"],
    darwin: ["liblz4.1.dylib", "/opt/homebrew/lib/liblz4.1.dylib"],
  },
  lzma: {
    linux: ["liblzma.so.5"],
    darwin: ["liblzma.5.dylib", "/opt/homebrew/lib/liblzma.5.dylib"],
  },
  zlib: { linux: ["libz.so.1"], darwin: ["libz.1.dylib"] },
  zstd: ZSTD_NAMES,
};

type Name = keyof typeof INTERFACES;
export type NativeLibrary<N extends Name> = Deno.DynamicLibrary<
  (typeof INTERFACES)[N]
>["symbols"];

const opened = new Map<Name, unknown>();

/** Returns a library of the system; `undefined` if it is missing or FFI is not permitted. Never prompts. */
export function nativeLibrary<N extends Name>(
  name: N,
): NativeLibrary<N> | undefined {
  if (!opened.has(name)) {
    if (!isFfiPermitted()) return undefined; // permission may be granted later
    opened.set(name, openLibrary(NAMES[name], INTERFACES[name]));
  }
  return opened.get(name) as NativeLibrary<N> | undefined;
}

/** Returns the address of bytes, which stays valid as long as they are referenced. Empty bytes have none. */
export function addressOf(bytes: Uint8Array): bigint {
  const pointer = Deno.UnsafePointer.of(bytes as Uint8Array<ArrayBuffer>);
  return Deno.UnsafePointer.value(pointer) as bigint;
}

/** Returns the text that a pointer of a library refers to. */
export function nativeText(pointer: Deno.PointerValue): string | undefined {
  return pointer === null
    ? undefined
    : Deno.UnsafePointerView.getCString(pointer);
}
