import { viewOf } from "../../base/view_of.ts";
import { ended, type Steps } from "../../io/concurrency/steps.ts";
import {
  FORMAT as FORMAT_OPTION,
  type NamedOption,
  optionText,
} from "../../base/named_option.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { tableSize, WORD } from "../../tree/field_shards/layout.ts";
import { FORMAT, INDEX, isShard } from "./layout.ts";

/** Bytes of an index searched for the format, which follows the column names of the first shard. */
const HEAD = 1 << 16;

const NO_SHARDS = String.raw`"shards"\s*:\s*\[\s*\]`;
const SOME_VERSION = String.raw`"version"\s*:\s*\d+`;
/** An index without shards names no format: it has only these two keys, in either order. */
const NOTHING_LISTED = new RegExp(
  String
    .raw`^\s*\{\s*(?:${NO_SHARDS}\s*,\s*${SOME_VERSION}|${SOME_VERSION}\s*,\s*${NO_SHARDS})\s*\}\s*$`,
);

const AS_MDS: NamedOption = { ...FORMAT_OPTION, value: "mds" };

export const mds: FormatDescriptor = {
  name: "mds",
  description: "MDS of MosaicML Streaming: samples of columns, in shards",
  suffixes: [".mds"],
  detect,
  evidence: (names) =>
    names.includes(INDEX) ? `shards of MDS (${INDEX})` : undefined,
  isDataset: (names) => ended(names.includes(INDEX) && names.some(isShard)),
  nearly: (names) =>
    names.includes(INDEX)
      ? {
        code: "unknown-format",
        why:
          `holds an ${INDEX} that is not one of MDS, and no shard (.mds). If it should be ` +
          `MDS, ${optionText(AS_MDS)} shows what is wrong with it`,
        namedOptions: [AS_MDS],
      }
      : undefined,
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["samples"]!,
  }),
  targets: [{ name: "mds" }],
  load: async () => (await import("./format.ts")).mds,
};

function* detect(probe: Probe): Steps<boolean> {
  const { path, names, size, read, headOf } = probe;
  if (names !== undefined) {
    // A dataset without its index or a shard gets this format's error message.
    if (names.some(isShard)) return true;
    if (!names.includes(INDEX)) return false;
    const head = yield* headOf(INDEX, HEAD);
    return head !== undefined && isIndex(head);
  }
  if (isShard(path)) return true;
  if (size === 0) return false;
  if (path.endsWith(`/${INDEX}`) || path === INDEX) {
    return isIndex(yield* read(0, Math.min(size, HEAD)));
  }
  return yield* isShardInside(probe);
}

/** Whether bytes begin an index, even a damaged one. */
function isIndex(head: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(head);
  return /^\s*\{/.test(text) &&
    (new RegExp(`"format"\\s*:\\s*"${FORMAT}"`).test(text) ||
      NOTHING_LISTED.test(text));
}

/** Whether a file of any name is a shard: its configuration follows its table. */
function* isShardInside({ size, read }: Probe): Steps<boolean> {
  if (size < tableSize(0)) return false;
  const start = yield* read(0, 2 * WORD);
  const view = viewOf(start);
  const at = tableSize(view.getUint32(0, true));
  const end = view.getUint32(WORD, true);
  if (end <= at || end > size || end - at > HEAD) return false;
  const config = new TextDecoder("latin1").decode(yield* read(at, end - at));
  return /^\{/.test(config) && isIndex(new TextEncoder().encode(config));
}
