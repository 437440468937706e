import { unlessForeign } from "../dirfd/trust.ts";
import type { TrustedDirectory } from "../dirfd/trusted_directory.ts";

export interface FileInCache {
  readonly name: string;
  readonly size: number;
  /** Last use, in milliseconds since 1970. */
  readonly used: number;
}

/** Lists files of a cache whose names match, including those left by killed programs; skips files of other users. */
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

/** Evicts the least recently used of all files until at most `most` bytes remain, and returns how many do. */
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
