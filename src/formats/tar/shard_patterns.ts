/** Locations that stand for several tars, as Python's `webdataset` spells them. */
import { FormatError } from "../../base/errors.ts";
import {
  isUrl,
  separateUrls,
  shownLocation,
} from "../../io/remote/remote_location.ts";
import {
  BracePattern,
  BracePatternError,
} from "../../io/storage/brace_pattern.ts";

/** Whether a location stands for several tars, as `NAME-{000000..000146}.tar` or `A.tar::B.tar`. */
export function isShardPattern(location: string): boolean {
  if (!/\{|%7B|::/i.test(location)) return false;
  const patterns = shardPatterns(location);
  return patterns?.every((pattern) => isShard(pattern.first())) === true;
}

/**
 * The patterns of a location, as Python's library of WebDataset has them: braces, and `::` between several.
 *
 * @returns `undefined` where it is a path.
 * @throws {FormatError} If braces are too deep inside one another.
 */
export function shardPatterns(location: string): BracePattern[] | undefined {
  const texts = isUrl(location)
    ? decodedUrls(separateUrls(location))
    : location.split("::");
  try {
    const patterns = texts.map((text) => BracePattern.parse(text));
    const [only] = patterns;
    const isPath = patterns.includes(undefined) ||
      patterns.length === 1 && !only!.isPattern;
    return isPath ? undefined : patterns as BracePattern[];
  } catch (error) {
    throw patternError(location, error);
  }
}

/** What is wrong with a pattern, as an error of its location; other errors as they are. */
export function patternError(location: string, error: unknown): unknown {
  if (!(error instanceof BracePatternError)) return error;
  const path = shownLocation(location);
  return new FormatError(
    "absurd-count",
    `Cannot open ${path}: the pattern ${error.message}. ` +
      "Name fewer shards, or their directory",
    { path, cause: error },
  );
}

/** URLs with their braces as they are: names behind what all have in common are not encoded in paths of a server. */
function decodedUrls(urls: readonly string[]): string[] {
  const [first] = urls as [string];
  if (!/^https?:/i.test(first)) return [...urls];
  const brace = first.search(/\{|%7B/i);
  const shared = first.slice(
    0,
    first.lastIndexOf("/", brace < 0 ? undefined : brace) + 1,
  );
  return urls.map((url) => {
    const origin = /^[^/]*\/\/[^/]*\//.exec(url)?.[0] ?? url;
    const start = url.startsWith(shared) ? shared : origin;
    try {
      return start + decodeURIComponent(url.slice(start.length));
    } catch {
      return url; // it is not encoded
    }
  });
}

/** Whether a file of a directory is one of its tars. */
export function isShard(name: string): boolean {
  return name.endsWith(".tar");
}
