import { unlessForeign } from "../directories/trust.ts";
import type { TrustedDirectory } from "../directories/trusted_directory.ts";

/** File in a cache. */
export interface FileInCache {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Last use, in milliseconds since 1970. */
  readonly used: number;
}

/**
 * Lists files of a cache, skipping files of other users.
 *
 * @param pattern Pattern of names, including those that a killed program left behind.
 */
export function filesIn(
  directory: TrustedDirectory,
  pattern: RegExp,
): FileInCache[] {
  return directory.list().filter((name) => pattern.test(name)).flatMap(
    (name) => {
      const facts = unlessForeign(() => directory.stat(name));
      return facts === undefined
        ? []
        : [{ name, size: facts.size, used: facts.mtimeMs }];
    },
  );
}

/**
 * Evicts the least recently used files until the rest fits.
 *
 * @param files All files of the directory that count.
 * @param most Bytes that may remain.
 * @returns Bytes that remain.
 */
export function evictFiles(
  directory: TrustedDirectory,
  files: readonly FileInCache[],
  most: number,
): number {
  let total = files.reduce((sum, { size }) => sum + size, 0);
  for (const { name, size } of files.toSorted((a, b) => a.used - b.used)) {
    if (total <= most) break;
    directory.remove(name);
    total -= size;
  }
  return total;
}

/** Marks a file as used, if its disk is writable. */
export function touchFile(directory: TrustedDirectory, name: string): void {
  try {
    using file = directory.openFile(name, "write");
    file?.touch();
  } catch {
    // It is evicted sooner.
  }
}
