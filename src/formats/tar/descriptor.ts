import { Field, Length, TAR_BLOCK } from "../../base/tar_header.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { isBracePattern } from "../../io/storage/shards/brace_locations.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor, Nearly } from "../format.ts";
import {
  compressionOf,
  COMPRESSIONS,
  decompressedName,
} from "../../io/compressed/compressions.ts";
import {
  blocksOf,
  flavourOf,
  hasChecksum,
  isShard,
  isWidsHead,
  isWidsName,
  parseNumber,
} from "./layout.ts";
import { hasSamples, SAMPLES } from "./kinds.ts";

/** Bytes in which an index of wids says that it is one. */
const WIDS_HEAD = 4096;

/** Tar archives: their files, and WebDataset samples. */
export const tar: FormatDescriptor = {
  name: "tar",
  description: "tar archives: files, samples of WebDataset, shards of them",
  variants: [
    {
      name: SAMPLES,
      description:
        "tar, as samples of WebDataset, even if it does not look like them",
    },
  ],
  suffixes: [".tar"],
  nestedSuffixes: [".tar"],
  isArchive: true,
  detect,
  evidence: (names) => `tars (${names.find(isShard)})`,
  isPattern: (path) => isBracePattern(path, isShard),
  nearly,
  countSamples: ({ kind, facts }) =>
    hasSamples(kind)
      ? { unit: "samples", length: facts!["samples"]! }
      : undefined,
  labelled: SAMPLES,
  targets: [{ name: "tar", suffix: ".tar" }],
  load: async () => (await import("./format.ts")).tar,
};

/** Explains why a directory of tars is not a container of shards that are compressed in a way that is not read. */
function nearly(names: readonly string[]): Nearly | undefined {
  for (const { name, isRead, command, suffixes, tarSuffixes } of COMPRESSIONS) {
    if (isRead) continue;
    const ends = [...suffixes.map((suffix) => `.tar${suffix}`), ...tarSuffixes];
    const first = names.find((name) => ends.some((end) => name.endsWith(end)));
    if (first === undefined) continue;
    const why =
      `holds tars that are compressed by ${name} (${first}). Decompress them ` +
      `(${command} ${first} > ${
        decompressedName(first)
      }): plain tars are shards of one dataset`;
    return { code: "unsupported", why };
  }
  return undefined;
}

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isShard);
  // A damaged file of that name gets this format's error message.
  if (isShard(path)) return true;
  if (size === 0) return false;
  if (isWidsName(path)) {
    return isWidsHead(yield* read(0, Math.min(size, WIDS_HEAD)));
  }
  const head = yield* read(0, Math.min(size, TAR_BLOCK));
  if (compressionOf(head) !== undefined) {
    return isShard(decompressedName(path));
  }
  if (size < TAR_BLOCK) return false;
  const blocks = blocksOf(new Uint8Array(TAR_BLOCK));
  blocks.bytes.set(head);
  if (!hasChecksum(blocks, 0)) return false;
  if (flavourOf(head, 0) !== "v7") return true;
  // A matching checksum may be a coincidence.
  return head[0] !== 0 &&
    parseNumber(head, Field.MODE, Length.MODE) <= 0o7777777 &&
    parseNumber(head, Field.SIZE, Length.SIZE) >= 0;
}
