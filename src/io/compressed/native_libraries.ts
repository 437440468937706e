import { isFfiPermitted } from "../libc/libc.ts";

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

const INTERFACES = { zlib: ZLIB, zstd: ZSTD } as const;

/** Names of the libraries, by system. */
const NAMES: Readonly<
  Record<
    keyof typeof INTERFACES,
    Partial<Record<typeof Deno.build.os, readonly string[]>>
  >
> = {
  zlib: { linux: ["libz.so.1"], darwin: ["libz.1.dylib"] },
  zstd: {
    linux: ["libzstd.so.1"],
    darwin: ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib"],
  },
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
    opened.set(name, open(name));
  }
  return opened.get(name) as NativeLibrary<N> | undefined;
}

function open<N extends Name>(name: N): unknown {
  for (const file of NAMES[name][Deno.build.os] ?? []) {
    try {
      return Deno.dlopen(file, INTERFACES[name]).symbols;
    } catch {
      // Try the next name; without any, callers do without.
    }
  }
  return undefined;
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
