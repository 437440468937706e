/** File names of a library by system, in the order in which they are tried. */
export type LibraryNames = Readonly<
  Partial<Record<typeof Deno.build.os, readonly string[]>>
>;

/** `zstd.h`. */
export const ZSTD_NAMES: LibraryNames = {
  linux: ["libzstd.so.1"],
  darwin: ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib"],
};

/** Opens a library of the system; `undefined` if it is missing. FFI must be permitted. */
export function openLibrary<const F extends Deno.ForeignLibraryInterface>(
  names: LibraryNames,
  functions: F,
): Deno.DynamicLibrary<F>["symbols"] | undefined {
  for (const name of names[Deno.build.os] ?? []) {
    try {
      return Deno.dlopen(name, functions).symbols;
    } catch {
      // Try the next name; without any, callers do without.
    }
  }
  return undefined;
}
