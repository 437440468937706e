import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { isBracePattern } from "../../io/storage/shards/brace_locations.ts";
import { SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";
import { crc32cLoaded } from "../../io/checksums/crc32c.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import {
  FRAME,
  hasRightSum,
  HEADER,
  isNamedSo,
  isShard,
  lengthAt,
} from "./layout.ts";

/** TFRecord: records in files and shards, TensorFlow examples. */
export const tfrecord: FormatDescriptor = {
  name: "tfrecord",
  description: "TFRecord: records, examples of TensorFlow, shards of them",
  suffixes: [".tfrecord", ".tfrecords"],
  nestedSuffixes: [".tfrecord", ".tfrecords"],
  isZlibbed: true,
  detect,
  evidence: (names) => `files of TFRecord (${names.find(isShard)})`,
  isPattern: (path) =>
    SHARD_PATTERN.test(path) || isBracePattern(path, isNamedSo),
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["records"]!,
  }),
  targets: [{ name: "tfrecord", suffix: ".tfrecord" }],
  load: async () => (await import("./format.ts")).tfrecord,
};

/** Limit of directory entries examined to find a file among them. */
const MOST_LOOKED_AT = 8;

function* detect(
  { path, names, namesIn, size, read }: Probe,
): Steps<boolean> {
  if (names !== undefined) {
    if (names.some(isNamedSo)) return true;
    // Numbered entries may also be directories, with any content.
    for (const name of names.filter(isShard).slice(0, MOST_LOOKED_AT)) {
      if ((yield* namesIn(name)) === undefined) return true;
    }
    return false;
  }
  // A damaged file with such a name gets this format's error messages.
  if (isNamedSo(path)) return true;
  if (size < FRAME) return false;
  const head = yield* read(0, HEADER);
  const view = viewOf(head);
  if (lengthAt(view, 0) > size - FRAME) return false;
  yield* crc32cLoaded();
  return hasRightSum(head, view, 0);
}
