import { isFfiPermitted } from "../libc/libc.ts";

/** Where the system's may be. */
const NAMES: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  linux: ["libdeflate.so.0"],
  darwin: ["libdeflate.dylib", "/opt/homebrew/lib/libdeflate.dylib"],
};

/** Of libdeflate.h: decompressor, what is inflated, its length, memory for the content, its length, and nothing. */
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

/** What a length is handed over as. */
const LONGEST = 2 ** 32 - 1;

/**
 * The system's libdeflate, which inflates twice as fast as zlib, but nothing piece by piece: it has to have the content's
 * exact size. It tells no more of what is damaged than that it is.
 */
export class Libdeflate {
  readonly #functions: Deno.DynamicLibrary<typeof FUNCTIONS>["symbols"];
  /** Decompressors that nobody uses: of each there is one call at a time. */
  readonly #spare: Deno.PointerObject[] = [];
  /** What another thread knows by its address only: nobody else may have kept it from being collected. */
  readonly #inUse = new Set<readonly Uint8Array[]>();

  private constructor(library: Deno.DynamicLibrary<typeof FUNCTIONS>) {
    this.#functions = library.symbols;
  }

  /** Opens it; `undefined` where there is none, or `--allow-ffi` is not given. */
  static open(): Libdeflate | undefined {
    for (const name of NAMES[Deno.build.os] ?? []) {
      try {
        return new Libdeflate(Deno.dlopen(name, FUNCTIONS));
      } catch {
        // The next one, or zlib.
      }
    }
    return undefined;
  }

  /**
   * Inflates a whole content.
   *
   * @param into Has its size.
   * @returns Whether it is sound, and of that size; otherwise the memory holds anything.
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

  /** {@linkcode Libdeflate.inflate} in another thread. */
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

/** What inflating takes; it may be shared memory, though the types do not say so. */
function argumentsFor(bytes: Uint8Array, into: Uint8Array) {
  return [
    ...[bytes as Uint8Array<ArrayBuffer>, bytes.length] as const,
    ...[into as Uint8Array<ArrayBuffer>, into.length] as const,
    null,
  ] as const;
}

let opened: { readonly library: Libdeflate | undefined } | undefined;

/** The library, or `undefined` where there is none, or FFI is not permitted: it is not asked for. */
export function libdeflate(): Libdeflate | undefined {
  if (opened === undefined) {
    if (!isFfiPermitted()) return undefined; // it may be later
    opened = { library: Libdeflate.open() };
  }
  return opened.library;
}
