import { unlessForeign } from "../directories/trust.ts";
import type { TrustedDirectory } from "../directories/trusted_directory.ts";

/** A file of a cache. */
export interface FileInCache {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** When it was used last, in milliseconds since 1970. */
  readonly used: number;
}

/**
 * Lists files of a cache; skips what other users have put in their place.
 *
 * @param pattern What their names match, also those that a killed program left behind.
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
 * Evicts the least recently used files until the others have at most so many bytes.
 *
 * @param files All files of the directory that count.
 * @param most Bytes that may stay.
 * @returns Bytes that stay.
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

/** Notes that a file was used, if its disk can be written to. */
export function touchFile(directory: TrustedDirectory, name: string): void {
  try {
    using file = directory.openFile(name, "write");
    file?.touch();
  } catch {
    // It is evicted sooner.
  }
}
