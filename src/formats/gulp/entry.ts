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
  load: async () => (await import("./format.ts")).gulp,
};

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
