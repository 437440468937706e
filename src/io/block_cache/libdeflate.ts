import { isFfiPermitted } from "../libc/libc.ts";

const NAMES: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  linux: ["libdeflate.so.0"],
  darwin: ["libdeflate.dylib", "/opt/homebrew/lib/libdeflate.dylib"],
};

/** From libdeflate.h: decompressor, input, its length, output, its length, and null. */
const INFLATE = {
  name: "libdeflate_deflate_decompress",
  parameters: ["pointer", "buffer", "u32", "buffer", "u32", "pointer"],
  result: "i32",
} as const;

const FUNCTIONS = {
  allocate: {
    name: "libdeflate_alloc_decompressor",
    parameters: [],
    result: "pointer",
  },
  inflate: INFLATE,
  inflateElsewhere: { ...INFLATE, nonblocking: true },
} as const;

const LONGEST = 2 ** 32 - 1;

/**
 * The system's libdeflate. It inflates twice as fast as zlib, but not in pieces, and needs the exact size of the
 * content. It does not report what is damaged.
 */
export class Libdeflate {
  readonly #functions: Deno.DynamicLibrary<typeof FUNCTIONS>["symbols"];
  /** Idle decompressors. Each serves one call at a time. */
  readonly #spare: Deno.PointerObject[] = [];
  /** Memory that another thread knows only by address. Referenced here so that it is not collected. */
  readonly #inUse = new Set<readonly Uint8Array[]>();

  private constructor(library: Deno.DynamicLibrary<typeof FUNCTIONS>) {
    this.#functions = library.symbols;
  }

  static open(): Libdeflate | undefined {
    for (const name of NAMES[Deno.build.os] ?? []) {
      try {
        return new Libdeflate(Deno.dlopen(name, FUNCTIONS));
      } catch {
        // Try the next name; without any, zlib is used.
      }
    }
    return undefined;
  }

  /**
   * Inflates a whole content into memory of its size. Returns whether the content is intact and of that size; if not,
   * `into` holds garbage.
   */
  inflate(bytes: Uint8Array, into: Uint8Array): boolean {
    const decompressor = this.#take(bytes, into);
    if (decompressor === undefined) return false;
    const { inflate } = this.#functions;
    const failure = inflate(
      decompressor,
      ...argumentsFor(bytes, into),
    );
    this.#spare.push(decompressor);
    return failure === 0;
  }

  /** {@linkcode Libdeflate.inflate} on another thread. */
  async inflateElsewhere(
    bytes: Uint8Array,
    into: Uint8Array,
  ): Promise<boolean> {
    const decompressor = this.#take(bytes, into);
    if (decompressor === undefined) return false;
    const { inflateElsewhere } = this.#functions;
    const memory = [bytes, into];
    this.#inUse.add(memory);
    try {
      const failure = await inflateElsewhere(
        decompressor,
        ...argumentsFor(bytes, into),
      );
      return failure === 0;
    } finally {
      this.#inUse.delete(memory);
      this.#spare.push(decompressor);
    }
  }

  #take(bytes: Uint8Array, into: Uint8Array): Deno.PointerObject | undefined {
    if (bytes.length > LONGEST || into.length > LONGEST) return undefined;
    return this.#spare.pop() ?? this.#functions.allocate() ?? undefined;
  }
}

/** Memory may be shared, although the types do not say so. */
function argumentsFor(bytes: Uint8Array, into: Uint8Array) {
  return [
    ...[bytes as Uint8Array<ArrayBuffer>, bytes.length] as const,
    ...[into as Uint8Array<ArrayBuffer>, into.length] as const,
    null,
  ] as const;
}

let opened: { readonly library: Libdeflate | undefined } | undefined;

/** Returns the library, or `undefined` if it is missing or FFI is not permitted. Never prompts. */
export function libdeflate(): Libdeflate | undefined {
  if (opened === undefined) {
    if (!isFfiPermitted()) return undefined; // permission may be granted later
    opened = { library: Libdeflate.open() };
  }
  return opened.library;
}
