import type { VirtualFs } from "../../src/open/mod.ts";

/** Paths of all files of a container, in its order. */
export function filePaths(fs: VirtualFs): string[] {
  return [...fs.walkSync()].filter(({ isFile }) => isFile)
    .map(({ path }) => path);
}
