/** Locations of several containers, in the syntax of Python's `webdataset`. */
import { FormatError } from "../../base/errors.ts";
import {
  isUrl,
  separateUrls,
  shownLocation,
} from "../remote/remote_location.ts";
import { BracePattern, BracePatternError } from "./brace_pattern.ts";

/**
 * Whether a location names several containers, such as `NAME-{000000..000146}.tar` or `A.tar::B.tar`.
 *
 * @param isShard Whether a name is that of a container.
 */
export function isShardPattern(
  location: string,
  isShard: (name: string) => boolean,
): boolean {
  if (!/\{|%7B|::/i.test(location)) return false;
  const patterns = shardPatterns(location);
  return patterns?.every((pattern) => isShard(pattern.first())) === true;
}

/**
 * Parses the patterns of a location in the syntax of Python's `webdataset`: braces, and `::` between several.
 *
 * @returns `undefined` if it is a path.
 * @throws {FormatError} If braces are nested too deep.
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

/** Converts the error of a pattern to one of its location; returns other errors unchanged. */
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

/** Decodes URLs after their common prefix, braces included: storage paths are unencoded there. */
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
      return url; // not encoded
    }
  });
}
