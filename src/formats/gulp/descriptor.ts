import { ended, type Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { DIRECTORY, isChunkName } from "./kinds.ts";

/** GulpIO and GulpIO2: a directory of chunks, or one chunk. */
export const gulp: FormatDescriptor = {
  name: "gulp",
  description: "GulpIO: directories of .gulp with .gmeta, or one of them",
  suffixes: [".gulp", ".gmeta"],
  detect,
  evidence: (names) => `GulpIO chunks (${names.find(isChunkName)})`,
  isDataset: (names) =>
    ended(
      names.some(isChunkName) && names.some((name) => name.endsWith(".gmeta")),
    ),
  countSamples: ({ facts }) => ({
    unit: "videos",
    length: facts!["videos"]! + (facts!["badVideos"] ?? 0),
  }),
  hasFrames: ({ kind }) => kind === DIRECTORY,
  targets: [{ name: "gulp" }],
  load: async () => (await import("./format.ts")).gulp,
};

// deno-lint-ignore require-yield -- names tell
function* detect({ path, names }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isChunkName);
  return /\.(gulp|gmeta)$/.test(path);
}
