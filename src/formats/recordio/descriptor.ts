import { SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";
import type { FormatDescriptor } from "../format.ts";
import { HEADER, NAMED, partAt } from "./layout.ts";

/** RecordIO of MXNet: records and images with labels, in files and shards. */
export const recordio: FormatDescriptor = {
  name: "recordio",
  description: "RecordIO of MXNet: images with labels, face sets, records",
  suffixes: [".rec"],
  nestedSuffixes: [".rec"],
  *detect({ path, names, size, read }) {
    if (names !== undefined) return names.some((name) => NAMED.test(name));
    // A damaged file of that name gets this format's error messages.
    if (NAMED.test(path)) return true;
    if (size < HEADER) return false;
    const { buffer, byteOffset } = yield* read(0, HEADER);
    const part = partAt(new DataView(buffer, byteOffset), 0);
    return part !== undefined && part.begins && part.stored <= size;
  },
  evidence: (names) =>
    `files of RecordIO (${names.find((name) => NAMED.test(name))})`,
  isPattern: (path) => NAMED.test(path) && SHARD_PATTERN.test(path),
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["images"] ?? facts!["records"]!,
  }),
  load: async () => (await import("./format.ts")).recordio,
};
