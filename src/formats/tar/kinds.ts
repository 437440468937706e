/** Kinds as reported by `info`: plain files, or samples. */
export const FILES = "files";
export const WEB_DATASET = "WebDataset";
const IN_SHARDS = " in shards";

/** Value of the `format` option that forces grouping into samples. */
export const SAMPLES = "webdataset";

export function inShards(kind: string): string {
  return `${kind}${IN_SHARDS}`;
}

export function hasSamples(kind: string): boolean {
  return kind.startsWith(WEB_DATASET);
}
