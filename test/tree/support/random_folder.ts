import fc from "../../support/random.ts";
import type { Folder } from "../../fuse/support/memory_tree.ts";

/** Nested folders, some of them empty, whose files contain their own names. */
export const folders: fc.Arbitrary<Folder> = fc.letrec((tie) => ({
  folder: fc.dictionary(
    fc.constantFrom(
      "a",
      "b",
      "c",
      "d.jpg",
      "e.tar.gz",
      ".f",
      "g.",
      "...h",
      "...",
    ),
    fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("content", ""),
      tie("folder"),
    ),
    { maxKeys: 6 },
  ),
})).folder as fc.Arbitrary<Folder>;

/** Returns the paths of all files, in walk order. */
export function pathsOf(folder: Folder, prefix = ""): string[] {
  return Object.entries(folder).flatMap(([name, entry]) =>
    typeof entry === "string"
      ? [prefix + name]
      : pathsOf(entry as Folder, `${prefix}${name}/`)
  );
}
