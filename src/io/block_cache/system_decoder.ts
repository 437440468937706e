import { isFfiPermitted } from "../libc/libc.ts";
import {
  type LibraryNames,
  openLibrary,
  ZSTD_NAMES,
} from "../libc/system_library.ts";

/** Compressions that a library of the system decodes faster than `node:zlib`: zstd without a new context each time. */
export type SystemCompression = "deflate" | "zstd";

/** A decompressor, two memories with their lengths, and null. */
const PARAMETERS = [
  "pointer",
  "buffer",
  "u32",
  "buffer",
  "u32",
  "pointer",
] as const;

/** @param allocate Name of the function that makes a decompressor. */
function functionsOf(allocate: string, decode: string) {
  // A `size_t` that is small in practice is declared `u32`, because a number costs a tenth of a BigInt.
  const call = { name: decode, parameters: PARAMETERS, result: "u32" } as const;
  return {
    allocate: { name: allocate, parameters: [], result: "pointer" },
    decode: call,
    decodeElsewhere: { ...call, nonblocking: true },
  } as const;
}

type Functions = ReturnType<typeof functionsOf>;
type Calls = Deno.DynamicLibrary<Functions>["symbols"];

interface Library {
  readonly names: LibraryNames;
  readonly functions: Functions;
  /** Whether the memory for the content precedes that of its encoded form. */
  readonly isOutputFirst: boolean;
  /** Whether a result says that a content of that length was decoded. */
  isDone(result: number, length: number): boolean;
}

const LIBRARIES: Readonly<Record<SystemCompression, Library>> = {
  deflate: { // libdeflate.h
    names: {
      linux: ["libdeflate.so.0"],
      darwin: ["libdeflate.dylib", "/opt/homebrew/lib/libdeflate.dylib"],
    },
    functions: functionsOf(
      "libdeflate_alloc_decompressor",
      "libdeflate_deflate_decompress",
    ),
    isOutputFirst: false,
    isDone: (result) => result === 0, // null for the length: it has to be exact
  },
  zstd: { // zstd.h; null is for no dictionary
    names: ZSTD_NAMES,
    functions: functionsOf("ZSTD_createDCtx", "ZSTD_decompress_usingDDict"),
    isOutputFirst: true,
    isDone: (result, length) => result === length, // errors are above all lengths
  },
};

/** Longest content or encoded form, so that results fit 32 bits. */
const LONGEST = 2 ** 31;

/**
 * A decompressor of the system. It is faster than that of `node:zlib`, but does not decode in pieces, and needs the
 * exact size of the content. It does not report what is damaged.
 */
export class SystemDecoder {
  readonly #library: Library;
  readonly #calls: Calls;
  /** Idle decompressors. Each serves one call at a time. */
  readonly #spare: Deno.PointerObject[] = [];
  /** Memory that another thread knows only by address. Referenced here so that it is not collected. */
  readonly #inUse = new Set<readonly Uint8Array[]>();

  private constructor(library: Library, calls: Calls) {
    this.#library = library;
    this.#calls = calls;
  }

  static open(compression: SystemCompression): SystemDecoder | undefined {
    const library = LIBRARIES[compression];
    const calls = openLibrary(library.names, library.functions);
    return calls && new SystemDecoder(library, calls);
  }

  /**
   * Decodes a whole content into memory of its size. Returns whether the content is intact and of that size; if not,
   * `into` holds garbage.
   */
  decode(bytes: Uint8Array, into: Uint8Array): boolean {
    const decompressor = this.#take(bytes, into);
    if (decompressor === undefined) return false;
    const [first, second] = this.#inOrder(bytes, into);
    const result = this.#calls.decode(
      ...[decompressor, first, first.length] as const,
      ...[second, second.length, null] as const,
    );
    this.#spare.push(decompressor);
    return this.#library.isDone(result, into.length);
  }

  /** {@linkcode SystemDecoder.decode} on another thread. */
  async decodeElsewhere(bytes: Uint8Array, into: Uint8Array): Promise<boolean> {
    const decompressor = this.#take(bytes, into);
    if (decompressor === undefined) return false;
    const [first, second] = this.#inOrder(bytes, into);
    const memory = [bytes, into];
    this.#inUse.add(memory);
    try {
      const result = await this.#calls.decodeElsewhere(
        ...[decompressor, first, first.length] as const,
        ...[second, second.length, null] as const,
      );
      return this.#library.isDone(result, into.length);
    } finally {
      this.#inUse.delete(memory);
      this.#spare.push(decompressor);
    }
  }

  #take(bytes: Uint8Array, into: Uint8Array): Deno.PointerObject | undefined {
    if (Math.max(bytes.length, into.length) > LONGEST) return undefined;
    return this.#spare.pop() ?? this.#calls.allocate() ?? undefined;
  }

  /** Memory may be shared, although the types do not say so. */
  #inOrder(bytes: Uint8Array, into: Uint8Array) {
    const both = [bytes, into] as Uint8Array<ArrayBuffer>[];
    return this.#library.isOutputFirst
      ? [both[1]!, both[0]!] as const
      : [both[0]!, both[1]!] as const;
  }
}

const opened = new Map<SystemCompression, SystemDecoder | undefined>();

/** Returns the system's decoder, or `undefined` if it is missing or FFI is not permitted. Never prompts. */
export function systemDecoder(
  compression: SystemCompression,
): SystemDecoder | undefined {
  if (opened.has(compression)) return opened.get(compression);
  if (!isFfiPermitted()) return undefined; // permission may be granted later
  const decoder = SystemDecoder.open(compression);
  opened.set(compression, decoder);
  return decoder;
}
