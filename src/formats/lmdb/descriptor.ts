import { viewOf } from "../../base/view_of.ts";
import { isBracePattern } from "../../io/storage/shards/brace_locations.ts";
import { ended, type Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { DATA_FILE, isShard, MAGIC, Meta } from "./layout.ts";

/** LMDB databases: their values by key. */
export const lmdb: FormatDescriptor = {
  name: "lmdb",
  description: "LMDB databases: values by key, named databases",
  suffixes: [".lmdb", ".mdb"],
  nestedSuffixes: [".lmdb"],
  detect,
  evidence: (names) => `LMDB databases (${names.find(isShard) ?? DATA_FILE})`,
  isDataset: (names) => ended(names.includes(DATA_FILE)),
  isPattern: (path) => isBracePattern(path, isShard),
  countSamples: ({ facts }) => ({ unit: "samples", length: facts!["values"]! }),
  load: async () => (await import("./format.ts")).lmdb,
};

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) {
    return names.includes(DATA_FILE) || names.some(isShard);
  }
  // A damaged file with such a name gets this format's error messages.
  if (isShard(path) || path.endsWith(`/${DATA_FILE}`)) return true;
  if (size < Meta.VERSION) return false;
  const magic = viewOf(yield* read(Meta.MAGIC, 4)).getUint32(0, true);
  return magic === MAGIC;
}
