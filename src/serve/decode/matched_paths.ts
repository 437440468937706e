/**
 * Glob matching for decoder threads, because regular expressions may be slow.
 *
 * @module
 */
import { PACKAGES } from "../../base/packages.ts";
import { compileGlob } from "../../tree/vfs/glob.ts";
import { type FilteredEntry, PathPattern } from "../../tree/vfs/path_filter.ts";

/** Time limit for one page of entries, in milliseconds. */
const LONGEST_WORK = 5000;

/** Parses a glob. Throws `RecordfsError` with code `bad-pattern` if it is invalid. */
export async function patternOf(glob: string): Promise<PathPattern> {
  const { default: picomatch } = await import(PACKAGES.picomatch);
  return new PathPattern(glob, (text) => compileGlob(text, picomatch.makeRe));
}

let latest:
  | { readonly glob: string; readonly pattern: PathPattern }
  | undefined;

/** Matches entries against a glob: 1 for each match, else 0. Throws `RangeError` if it takes too long. */
export async function matchedPaths(
  glob: string,
  entries: readonly FilteredEntry[],
): Promise<Uint8Array<ArrayBuffer>> {
  if (latest?.glob !== glob) latest = { glob, pattern: await patternOf(glob) };
  const { pattern } = latest;
  const until = performance.now() + LONGEST_WORK;
  return Uint8Array.from(entries, (entry) => {
    if (performance.now() > until) {
      throw new RangeError(
        `${entries.length} names take more than ${LONGEST_WORK / 1000} s`,
      );
    }
    return pattern.matches(entry) ? 1 : 0;
  });
}
