import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { isNamedSo, SIGNATURE, STARTS } from "./layout.ts";

/** HDF5: groups as directories, datasets as arrays, and their rows as samples. */
export const hdf5: FormatDescriptor = {
  name: "hdf5",
  description: "HDF5: datasets as arrays in directories, their rows as samples",
  suffixes: [".h5", ".hdf5"],
  nestedSuffixes: [".h5", ".hdf5"],
  areFiles: true,
  detect,
  countSamples: ({ facts }) =>
    facts?.["rows"] === undefined
      ? undefined
      : { unit: "samples", length: facts["rows"] },
  load: async () => (await import("./format.ts")).hdf5,
};

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return false;
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

function isSignature(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}
