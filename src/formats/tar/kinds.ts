/** Kinds of tar containers. */

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
