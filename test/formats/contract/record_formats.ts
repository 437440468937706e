/** Formats of consecutive records in the table of the contract suite. */
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { bagzBytes } from "../../support/bagz/make_bagz.ts";
import {
  imageRecord,
  recordioBytes,
} from "../../support/recordio/make_recordio.ts";
import { exampleOf, fileOf } from "../../support/tfrecord/make_tfrecord.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import {
  byteOf,
  bytesOfFile,
  byWord,
  fileShards,
  NUMBERED,
  oneFile,
  RECORDS,
  text,
  TEXTS,
  utf8,
  WORDS,
} from "./small_containers.ts";

export const RECORD_FORMATS: readonly FormatCase[] = [
  {
    name: "tfrecord",
    goldens: goldensIn("tfrecord"),
    write: oneFile(
      "a.tfrecord",
      () =>
        fileOf(
          TEXTS.map((text, i) =>
            exampleOf({ text: [text], word: [WORDS[i]!] })
          ),
        ),
    ),
    files: Object.fromEntries(TEXTS.map((_, i) => [`00000${i}`, undefined])),
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS,
    keyOf: (sample) => {
      // A damaged record may not be an example.
      const { text: values, content } = sample as {
        readonly text?: Uint8Array[];
        readonly content?: Uint8Array;
      };
      return text(values?.[0] ?? content);
    },
    labels: byWord,
    isSummed: true,
    cuts: ["truncated-data", "truncated-header"],
    soundCuts: ["a.tfrecord 0", "a.tfrecord 58", "a.tfrecord 110"],
    shards: fileShards(
      "tfrecord",
      12,
      (samples) =>
        fileOf(samples.map((n) => exampleOf({ n: [Uint8Array.of(n)] }))),
      (sample) => (sample as { n: Uint8Array[] }).n[0]![0]!,
    ),
    indexed: {
      name: "large.tfrecord",
      bytes: fileOf,
      ruin: (bytes) => void bytes.fill(0x7a, 0, 12), // the first length
    },
    damages: [{ at: 12 }, { at: -1 }],
  },
  {
    name: "bagz",
    goldens: goldensIn("bagz", "bagz"),
    write: oneFile("a.bagz", () => bagzBytes(RECORDS)),
    files: NUMBERED,
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS,
    keyOf: (sample) =>
      sample instanceof Uint8Array ? text(sample) : bytesOfFile(sample),
    isSummed: false,
    cuts: ["truncated"],
    soundCuts: ["a.bagz 0"],
    // The end of the file gives the number of records.
    shards: fileShards(
      "bagz",
      Infinity,
      (samples) => bagzBytes(samples.map((n) => Uint8Array.of(n))),
      byteOf("content"),
    ),
    damages: [{ at: 0 }, { at: 6 }, { at: -9, count: 2 }],
  },
  {
    name: "recordio",
    goldens: goldensIn("recordio"),
    write: oneFile(
      "a.rec",
      () =>
        recordioBytes(
          RECORDS.map((record, i) => imageRecord(i, 10 + i, record)),
        ),
    ),
    files: Object.fromEntries(TEXTS.flatMap((text, i) => [
      [`00000${i}/image`, text],
      [`00000${i}/label.json`, `${i}\n`],
      [`00000${i}/id.json`, `${10 + i}\n`],
    ])),
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS.map((text, i) => `${text} ${i}`),
    keyOf: (sample) => {
      // A damaged record may not be an image.
      const { image, label, content } = sample as {
        readonly image?: Uint8Array;
        readonly label?: number;
        readonly content?: Uint8Array;
      };
      return `${text(image ?? content)} ${label}`;
    },
    labels: { key: "label", values: ["0", "1", "2"] },
    isSummed: false,
    cuts: ["truncated-data"],
    soundCuts: ["a.rec 0", "a.rec 44", "a.rec 80"],
    shards: fileShards(
      "rec",
      12,
      (samples) =>
        recordioBytes(
          samples.map((n) => imageRecord(n, n, Uint8Array.of(n))),
        ),
      byteOf("image"),
    ),
    indexed: {
      name: "large.rec",
      bytes: (contents) => recordioBytes(contents.map(utf8)),
      ruin: (bytes) => void bytes.fill(0x7a, 0, 8), // the first header
    },
    damages: [{ at: 0 }, { at: 5 }],
  },
];
