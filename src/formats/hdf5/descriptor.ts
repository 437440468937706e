import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { isShardPattern } from "../../io/storage/shards/brace_locations.ts";
import { SHARD } from "../../io/storage/shards/shard_names.ts";
import { isNamedSo, SIGNATURE, STARTS } from "./layout.ts";

/** HDF5: groups as directories, datasets as arrays, and their rows as samples. */
export const hdf5: FormatDescriptor = {
  name: "hdf5",
  description: "HDF5: datasets as arrays in directories, their rows as samples",
  suffixes: [".h5", ".hdf5"],
  nestedSuffixes: [".h5", ".hdf5"],
  areFiles: true,
  detect,
  evidence: (names) => `shards of HDF5 (${names.find(isShard)})`,
  isPattern: (path) => isShardPattern(path, isNamedSo),
  countSamples: ({ facts }) =>
    facts?.["rows"] === undefined
      ? undefined
      : { unit: "samples", length: facts["rows"] },
  load: async () => (await import("./format.ts")).hdf5,
};

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isShard);
  // A damaged file of that name gets this format's error message.
  if (isNamedSo(path)) return true;
  const { length } = SIGNATURE;
  const least = Math.min(size, length);
  const head = yield* read(0, least);
  if (isSignature(head)) return true;
  // A header of the user's own precedes it, which begins as no other format known here.
  for (const start of STARTS.slice(1)) {
    if (start + length > size) return false;
    if (isSignature(yield* read(start, length))) return true;
  }
  return false;
}

/** Whether a file of a directory is one of several that belong together. */
function isShard(name: string): boolean {
  return isNamedSo(name) && SHARD.test(name);
}

function isSignature(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}
