import type { DatasetHead } from "../dataset/open_dataset.ts";

/**
 * The inodes that the bags of a dataset's keys are now; 0 for one that is missing. A bag that was replaced
 * by another is another inode, however old it is.
 */
export function inodesOf({ path, keys }: DatasetHead): number[] {
  return keys.map(({ key }) => {
    try {
      return Deno.statSync(`${path}/${key}.bag`).ino ?? 0;
    } catch {
      return 0;
    }
  });
}

/** A number of 32 bits that stands for so many inodes (FNV-1a, over words instead of bytes). */
export function hashInodes(inodes: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const inode of inodes) {
    for (const word of [inode, inode / 2 ** 32]) {
      hash = Math.imul(hash ^ word, 0x01000193);
    }
  }
  return hash >>> 0;
}
