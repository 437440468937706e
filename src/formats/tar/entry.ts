import { BLOCK, Field, Length } from "../../tar_header.ts";
import { FormatError } from "../../errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import {
  isUrl,
  separateUrls,
  shownLocation,
} from "../../io/remote/remote_location.ts";
import {
  BracePattern,
  BracePatternError,
} from "../../io/storage/brace_pattern.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatEntry, Nearly } from "../format.ts";
import {
  blocksOf,
  compressionOf,
  COMPRESSIONS,
  flavourOf,
  hasChecksum,
  parseNumber,
} from "./layout.ts";

/** The kinds of containers, as `info` has them: a tar, and several. */
export const FILES = "files";
export const WEB_DATASET = "WebDataset";
const IN_SHARDS = " in shards";

/** What the `format` option calls tars whose files are gathered to samples, whatever they seem to be. */
export const SAMPLES = "webdataset";

/** What several tars are. */
export function inShards(kind: string): string {
  return `${kind}${IN_SHARDS}`;
}

/** Whether a container's files are gathered to samples. */
export function hasSamples(kind: string): boolean {
  return kind.startsWith(WEB_DATASET);
}

/** Tar archives: their files, and samples of WebDataset. */
export const tar: FormatEntry = {
  name: "tar",
  description: "tar archives: files, samples of WebDataset, shards of them",
  variants: [
    {
      name: SAMPLES,
      description: "tar, as samples of WebDataset even if it seems to be none",
    },
  ],
  suffixes: [".tar"],
  detect,
  evidence: (names) => `tars (${names.find(isShard)})`,
  isPattern: isShardPattern,
  nearly,
  countSamples: ({ kind, facts }) =>
    hasSamples(kind)
      ? { unit: "samples", length: facts!["samples"]! }
      : undefined,
  labelled: SAMPLES,
  targets: [{ name: "tar", suffix: ".tar" }],
  load: async () => (await import("./format.ts")).tar,
};

/** A directory of compressed tars is none of shards. */
function nearly(names: readonly string[]): Nearly | undefined {
  for (const { name, program, suffixes } of COMPRESSIONS) {
    const suffix = suffixes.find((suffix) =>
      names.some((name) => name.endsWith(suffix))
    );
    if (suffix === undefined) continue;
    const first = names.find((name) => name.endsWith(suffix))!;
    const plain = `${first.slice(0, -suffix.length)}.tar`;
    const why =
      `holds tars that are compressed by ${name} (${first}), which have to be read from their start to find ` +
      `anything in them: make plain ones of them (${program} ${first} > ${plain}), which are shards of one data set`;
    return { code: "unsupported", why };
  }
  return undefined;
}

/** Whether a location stands for several tars, as `NAME-{000000..000146}.tar` or `A.tar::B.tar`. */
function isShardPattern(location: string): boolean {
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

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isShard);
  // A damaged file of that name gets this format's explanation of what is wrong.
  if (isShard(path)) return true;
  if (size === 0) return false;
  const head = yield* read(0, Math.min(size, BLOCK));
  const compression = compressionOf(head);
  if (compression !== undefined) {
    return COMPRESSIONS.some(({ suffixes }) =>
      suffixes.some((suffix) => path.endsWith(suffix))
    );
  }
  if (size < BLOCK) return false;
  const blocks = blocksOf(new Uint8Array(BLOCK));
  blocks.bytes.set(head);
  if (!hasChecksum(blocks, 0)) return false;
  if (flavourOf(head, 0) !== "v7") return true;
  // The checksum alone may be chance.
  return head[0] !== 0 &&
    parseNumber(head, Field.MODE, Length.MODE) <= 0o7777777 &&
    parseNumber(head, Field.SIZE, Length.SIZE) >= 0;
}
