import { FormatError } from "../../errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatEntry } from "../format.ts";

/** GulpIO and GulpIO2: a directory of chunks, or one chunk. */
export const gulp: FormatEntry = {
  name: "gulp",
  description: "GulpIO: directories of .gulp with .gmeta, or one of them",
  suffixes: [".gulp", ".gmeta"],
  detect,
  evidence: (names) => `GulpIO chunks (${names.find(isChunkName)})`,
  countSamples({ facts, parts }) {
    const { videos, badVideos = 0, badChunks = 0 } = facts!;
    if (badChunks > 0) throw unnumbered(parts[0]!.path);
    return { unit: "videos", length: videos! + badVideos };
  },
  hasFrames: ({ kind }) => kind === DIRECTORY,
  targets: [{ name: "gulp" }],
  load: async () => (await import("./format.ts")).gulp,
};

/** What a directory of chunks is, among the kinds of containers. */
export const DIRECTORY = "directory of chunks";

/** Names of data files in a directory. */
export const DATA_NAME = /^data.*\.gulp$/s;
/** Names of their meta files. */
export const META_NAME = /^meta.*\.gmeta$/s;

/** Whether a file of this name belongs to a chunk in a directory. */
export function isChunkName(name: string): boolean {
  return DATA_NAME.test(name) || META_NAME.test(name);
}

// deno-lint-ignore require-yield -- names tell
function* detect({ path, names }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isChunkName);
  return /\.(gulp|gmeta)$/.test(path);
}

/**
 * The error about videos whose numbers nobody knows, since chunks among theirs are left out.
 *
 * @param path A file of their directory.
 */
export function unnumbered(path: string): FormatError {
  const directory = process.getBuiltinModule("node:path").dirname(path);
  return new FormatError(
    "missing-data",
    `${directory} has chunks that cannot be opened, so that the numbers of its videos are not known: ` +
      "`check()` says what is wrong; bring those chunks back, or take their files away",
    { path: directory },
  );
}
