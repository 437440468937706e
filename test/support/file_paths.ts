import type { VirtualFs } from "../../src/tree/vfs/virtual_fs.ts";

/** Returns the paths of all files of a container, in its order. */
export function filePaths(fs: VirtualFs): string[] {
  return [...fs.walkSync()].filter(({ isFile }) => isFile)
    .map(({ path }) => path);
}
