/** Locations of several shards, in the syntax of Python's `webdataset`. */
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import type { Steps } from "../../concurrency/steps.ts";
import {
  isUrl,
  separateUrls,
  shownLocation,
} from "../../remote/remote_location.ts";
import { BracePattern, BracePatternError } from "./brace_pattern.ts";
import { SHARD_PATTERN } from "./shard_names.ts";
import type { Storage } from "../storage.ts";

/** Whether a location names several shards, such as `NAME-{000000..000146}.tar` or `A.tar::B.tar`. */
export function isBracePattern(
  location: string,
  isShard: (path: string) => boolean,
): boolean {
  if (!/\{|%7B|::/i.test(location)) return false;
  const patterns = bracePatterns(location);
  return patterns?.every((pattern) => isShard(pattern.first())) === true;
}

/** Whether a location names several shards, with braces or as {@linkcode SHARD_PATTERN}. `isShard` is given names. */
export function isShardPattern(
  location: string,
  isShard: (name: string) => boolean,
): boolean {
  const isNamedSo = (path: string) =>
    isShard(path.slice(path.lastIndexOf("/") + 1));
  return SHARD_PATTERN.test(location) && isNamedSo(location) ||
    isBracePattern(location, isNamedSo);
}

/**
 * Returns the paths that a location names, if it is such a pattern and nothing exists at the location itself.
 *
 * @throws {FormatError} If it names too many.
 */
export function* bracePaths(
  location: string,
  storage: Storage,
): Steps<string[] | undefined> {
  const patterns = bracePatterns(location);
  if (patterns === undefined || (yield* isThere(location, storage))) {
    return undefined;
  }
  let paths: string[];
  try {
    paths = BracePattern.expand(patterns);
  } catch (error) {
    throw patternError(location, error);
  }
  const isRemote = isUrl(location);
  if (paths.every((one) => isUrl(one) === isRemote)) return paths;
  throw new RecordfsError(
    "bad-location",
    `Cannot open ${location}: it names files of this machine and of a server. ` +
      "Open them as several containers (`open([…])`, or --add)",
    { path: location },
  );
}

/** Whether a file with the pattern as its literal name exists; if that is unknown, assumes a pattern. */
function* isThere(path: string, storage: Storage): Steps<boolean> {
  try {
    return (yield* storage.stat(path)) !== undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return false;
    throw error;
  }
}

/**
 * Parses the patterns of a location in the syntax of Python's `webdataset`: braces, and `::` between several.
 *
 * @returns `undefined` if it is a path.
 * @throws {FormatError} If braces are nested too deep.
 */
function bracePatterns(location: string): BracePattern[] | undefined {
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
function patternError(location: string, error: unknown): unknown {
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
