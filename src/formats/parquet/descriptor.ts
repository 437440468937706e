import type { Steps } from "../../io/concurrency/steps.ts";
import { isShardPattern } from "../../io/storage/shards/brace_locations.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import {
  ENCRYPTED_MAGIC,
  isNamedSo,
  MAGIC,
  MAGIC_SIZE,
  TAIL_SIZE,
} from "./layout.ts";

/** Parquet: rows of tables, in files and shards. */
export const parquet: FormatDescriptor = {
  name: "parquet",
  description: "Parquet: rows of tables, pictures in columns, shards of them",
  suffixes: [".parquet"],
  nestedSuffixes: [".parquet"],
  detect,
  evidence: (names) => `files of Parquet (${names.find(isNamedSo)})`,
  isPattern: (path) => isShardPattern(path, isNamedSo),
  countSamples: ({ facts }) => ({ unit: "samples", length: facts!["rows"]! }),
  targets: [{ name: "parquet", suffix: ".parquet" }],
  load: async () => (await import("./format.ts")).parquet,
};

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isNamedSo);
  // A damaged file of that name gets this format's error message.
  if (isNamedSo(path.slice(path.lastIndexOf("/") + 1))) return true;
  if (size < MAGIC_SIZE + TAIL_SIZE) return false;
  const first = wordOf(yield* read(0, MAGIC_SIZE));
  if (first !== MAGIC && first !== ENCRYPTED_MAGIC) return false;
  return wordOf(yield* read(size - MAGIC_SIZE, MAGIC_SIZE)) === first;
}

function wordOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}
