import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { lmdbBytes, PAGE, rootOf } from "../../support/lmdb/make_lmdb.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import {
  byteOf,
  bytesOfFile,
  fileShards,
  oneFile,
  text,
  TEXTS,
} from "./small_containers.ts";

/** Values of a database by key. */
const FILES_BY_KEY = { a: TEXTS[0]!, b: TEXTS[1]!, c: TEXTS[2]! };

/** LMDB, for the contract suite. */
export const LMDB: FormatCase = {
  name: "lmdb",
  goldens: goldensIn("lmdb"),
  write: oneFile("a.lmdb", () => lmdbBytes(Object.entries(FILES_BY_KEY))),
  files: FILES_BY_KEY,
  openDataset: (path, options) => openDataset(path, options),
  keys: TEXTS,
  keyOf: (sample) =>
    sample instanceof Uint8Array ? text(sample) : bytesOfFile(sample),
  isSummed: false,
  cuts: ["truncated"],
  shards: fileShards(
    "lmdb",
    152,
    (samples) => lmdbBytes(samples.map((n) => [`${n}`, Uint8Array.of(n)])),
    byteOf("content"),
  ),
  indexed: {
    name: "large.lmdb",
    bytes: (contents) =>
      lmdbBytes(contents.map((text, i) => [`${i}`.padStart(8, "0"), text])),
    ruin: (bytes) => {
      const root = rootOf(bytes) * PAGE;
      bytes.fill(0, root, root + PAGE);
    },
  },
  damages: [{ at: PAGE }, { at: 2 * PAGE }],
};
