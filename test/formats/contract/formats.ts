/** Table of all formats for the contract suite. */
import * as fs from "node:fs";
import {
  BagDataset,
  FFRecordDataset,
  GulpVideoDataset,
  PackedFolderDataset,
} from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { COUNT, type FormatCase, goldensIn } from "./format_case.ts";
import { LMDB } from "./lmdb_case.ts";
import { LINE_FORMATS } from "./line_formats.ts";
import { registerFormat } from "../../../src/formats/registry.ts";
import { writeBag, writeDataset } from "../../support/bags/make_bag.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import {
  entryOf,
  NAME,
  sampleOf,
  shardOf,
} from "../../support/mds/make_mds.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { toyBytes } from "../../support/toy_format/write_toy.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { makeZip } from "../../support/zip/make_zip.ts";
import { RECORD_FORMATS } from "./record_formats.ts";
import { ROW_FORMATS } from "./row_formats.ts";
import {
  byteOf,
  bytesOfFile,
  byWord,
  FILES,
  fileShards,
  namedFiles,
  NUMBERED,
  oneFile,
  RECORDS,
  text,
  TEXTS,
  utf8,
  WORDS,
  writeGulp,
  writeMds,
  writeVideos,
} from "./small_containers.ts";
import { TENSOR_FORMATS } from "./tensor_formats.ts";

const FORMATS: readonly FormatCase[] = [
  {
    name: "ffrecord",
    kind: "samples",
    goldens: goldensIn("ffrecord", "ffr"),
    write: oneFile("a.ffr", () => ffrBytes(RECORDS)),
    files: NUMBERED,
    openDataset: (path, options) => FFRecordDataset.open(path, options),
    keys: TEXTS,
    keyOf: text,
    isSummed: true,
    cuts: [
      "out-of-bounds",
      "sample-checksum",
      "truncated-data",
      "truncated-header",
    ],
    shards: fileShards(
      "ffr",
      12,
      (samples) => ffrBytes(samples.map((n) => Uint8Array.of(n))),
      (sample) => (sample as Uint8Array)[0]!,
    ),
    damages: [{ at: 48 }, { at: -1 }],
  },
  {
    name: "ffrecord",
    kind: "packed folder",
    goldens: goldensIn("ffrecord", "packed"),
    write: oneFile("a.ffr", () =>
      ffrBytes(packedSamples({
        a: { "b.txt": RECORDS[0]!, c: RECORDS[1]! },
        "d.bin": RECORDS[2]!,
      }))),
    files: FILES,
    openDataset: (path, options) => PackedFolderDataset.open(path, options),
    keys: TEXTS,
    keyOf: bytesOfFile,
    labels: { key: "dir", values: ["a", "a", ""] },
    parts: COUNT + 1, // and the structure
    checkCounts: "parts",
    isSummed: true,
    cuts: [
      "out-of-bounds",
      "sample-checksum",
      "truncated-data",
      "truncated-header",
    ],
    damages: [{ at: 60 }, { at: 69 }],
  },
  {
    name: "gulp",
    goldens: goldensIn("gulp"),
    write: writeGulp,
    files: Object.fromEntries(WORDS.flatMap((_, i) => [
      [`v${i}/frame_0001.jpg`, undefined],
      [`v${i}/frame_0002.jpg`, undefined],
      [`v${i}/meta.json`, undefined],
    ])),
    openDataset: (path, { storage, remote, onWarning, signal }) =>
      GulpVideoDataset.open(path, {
        ...{ storage, remote, onWarning, signal },
        ...{ numFrames: 1, label: null, stack: false },
      }),
    keys: ["v0", "v1", "v2"],
    keyOf: (sample) => (sample as { id: string }).id,
    labels: byWord,
    takesProcess: false,
    shards: {
      name: (shard) => `meta_${shard}.gmeta`,
      data: (shard) => `data_${shard}.gulp`,
      head: 12,
      isDirectory: true,
      write: writeVideos,
      byteOf: (sample) => Number((sample as { id: string }).id),
    },
    parts: 2 * COUNT, // frames
    checkCounts: "parts",
    isSummed: false,
    cuts: ["bad-frame-info", "bad-meta", "sample-failed", "truncated-data"],
    damages: [{ file: "data_0.gulp", at: 0 }],
  },
  {
    name: "bags",
    kind: "bag",
    goldens: goldensIn("bag"),
    write(dir) {
      writeBag(`${dir}/a.bag`, RECORDS, 2);
      return "a.bag";
    },
    files: NUMBERED,
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS,
    keyOf: (sample) =>
      sample instanceof Uint8Array ? text(sample) : bytesOfFile(sample),
    isSummed: false,
    cuts: ["truncated"],
    soundCuts: ["a.bag 0"],
    // The end of one record is the start of the next.
    damages: [{ at: -9, count: 2 }],
  },
  ...([1, 2, 3] as const).map((generation): FormatCase => ({
    name: "bags",
    kind: `dataset of generation ${generation}`,
    goldens: {
      1: [...goldensIn("bags"), ...goldensIn("granular")],
      2: goldensIn("granular2"),
      3: goldensIn("granular3"),
    }[generation],
    write(dir) {
      const datapoints = RECORDS.map((bytes, i) => ({
        bytes,
        word: utf8(WORDS[i]!),
      }));
      const spec = { bytes: "bytes", word: "utf8" };
      writeDataset(`${dir}/data`, spec, datapoints, generation);
      return "data";
    },
    files: {
      "spec.json": `{"bytes":"bytes","word":"utf8"}`,
      ...Object.fromEntries(TEXTS.flatMap((text, i) => [
        [`00000${i}/bytes`, text],
        [`00000${i}/word`, WORDS[i]],
      ])),
    },
    openDataset: (path, options) => BagDataset.open(path, options),
    keys: TEXTS.map((text, i) => `${text} ${WORDS[i]}`),
    keyOf: (sample) => {
      const { bytes, word } = sample as { bytes: Uint8Array; word: string };
      return `${text(bytes)} ${word}`;
    },
    labels: byWord,
    parts: 2 * COUNT, // records of both keys
    isSummed: false,
    cuts: generation < 3
      ? ["bad-reference", "bad-spec", "truncated"]
      : ["bad-index", "bad-spec", "unfinished"],
    shards: {
      name: (shard) => `00000${shard}`,
      file: "/spec.json",
      head: 12,
      write(path, samples) {
        const datapoints = samples.map((n) => ({ n: Uint8Array.of(n) }));
        writeDataset(path, { n: "bytes" }, datapoints, generation);
      },
      byteOf: byteOf("n"),
    },
    damages: generation < 3
      ? [{ file: "refs.bag", at: 0 }]
      : [{ file: "bytes.idx", at: 15, count: 2 }],
  })),
  {
    name: "tar",
    goldens: goldensIn("tar"),
    write: oneFile("a.tar", () =>
      tarBytes(TEXTS.flatMap((data, i) => [
        { name: `${i}.txt`, data },
        { name: `${i}.word.txt`, data: WORDS[i]! },
      ]))),
    files: Object.fromEntries(TEXTS.flatMap((text, i) => [
      [`${i}.txt`, text],
      [`${i}.word.txt`, WORDS[i]],
    ])),
    openDataset: (path, options) =>
      openDataset(path, { ...options, format: "webdataset" }),
    keys: TEXTS.map((txt, i) => ({
      txt,
      "word.txt": WORDS[i],
      __key__: `${i}`,
    })),
    keyOf: (sample) => ({ ...sample as object }),
    labels: { key: "word.txt", values: WORDS },
    isInOwnOrder: true,
    isSummed: false,
    cuts: ["truncated-data", "truncated-header"],
    shards: fileShards(
      "tar",
      Infinity, // headers after a damaged one are found
      (samples) =>
        tarBytes(
          samples.map((n) => ({ name: `${n}.bin`, data: Uint8Array.of(n) })),
        ),
      byteOf("bin"),
    ),
    indexed: {
      name: "large.tar",
      bytes: (contents) => tarBytes(namedFiles(contents)),
      ruin: (bytes) => void bytes.fill(0x7a, 0, 512), // the first header
    },
    damages: [{ at: 1024 }, { at: 2048 + 100 }],
  },
  {
    name: "zip",
    goldens: goldensIn("zip"),
    write: oneFile(
      "a.zip",
      () =>
        makeZip(
          Object.entries(FILES).map(([name, data], i) => ({
            name,
            data,
            method: i % 2 * 8,
          })),
        ),
    ),
    files: FILES,
    openDataset: (path, options) =>
      openDataset(path, { ...options, decode: false }),
    keys: TEXTS,
    keyOf: bytesOfFile,
    labels: { key: "dir", values: ["a", "a", ""] },
    isSummed: true,
    cuts: ["truncated"],
    indexed: {
      name: "large.zip",
      bytes: (contents) => makeZip(namedFiles(contents)),
      // The first entry of the central directory, located by the end record.
      ruin: (bytes) => {
        const at = new DataView(bytes.buffer).getUint32(bytes.length - 6, true);
        bytes.fill(0, at, at + 4);
      },
    },
    damages: [{ at: 30 + 7 }],
  },
  ...ROW_FORMATS,
  ...TENSOR_FORMATS,
  ...RECORD_FORMATS,
  {
    name: "mds",
    goldens: goldensIn("mds"),
    write(dir) {
      const shard = shardOf(WORDS.map((word, i) => sampleOf(i, word)));
      const shards = [entryOf(NAME, shard.length, COUNT)];
      fs.mkdirSync(`${dir}/d`);
      fs.writeFileSync(`${dir}/d/${NAME}`, shard);
      fs.writeFileSync(
        `${dir}/d/index.json`,
        JSON.stringify({ shards, version: 2 }),
      );
      return "d";
    },
    files: Object.fromEntries(WORDS.flatMap((word, i) => [
      [`00000${i}/n.json`, `${i}\n`],
      [`00000${i}/t.txt`, word],
    ])),
    openDataset: (path, options) => openDataset(path, options),
    keys: WORDS.map((word, i) => `${i} ${word}`),
    keyOf: (sample) => {
      const { n, t } = sample as { n: number; t: string };
      return `${n} ${t}`;
    },
    labels: { key: "t", values: WORDS },
    isCounted: (path) => !/^(.*\/)?\d{6}\/[^/]+\/[^/]+$/.test(path), // elements of lists
    isSummed: false,
    cuts: ["bad-index", "truncated-data"],
    shards: {
      name: (shard) => `${shard}.mds`,
      head: 12,
      keepsNumbers: true,
      write: writeMds,
      byteOf: byteOf("data"),
    },
    damages: [{ file: NAME, at: 0 }],
  },
  {
    name: "hdf5",
    goldens: goldensIn("hdf5"),
    write: oneFile(
      "a.h5",
      () => fs.readFileSync(`${REPOSITORY}test/golden/hdf5/small/small.h5`),
    ),
    files: { "n.npy": undefined, "word.json": `["cat", "dog", "cat"]\n` },
    openDataset: (path, options) => openDataset(path, options),
    keys: ["7 cat", "8 dog", "9 cat"],
    keyOf: (row) => {
      const { n, word } = row as { n: number; word: string };
      return `${n} ${word}`;
    },
    labels: byWord,
    areNoNodes: true,
    isSummed: false,
    cuts: ["bad-structure", "truncated"],
    damages: [{ at: 3496 }], // in the chunk that has a checksum
  },
  LMDB,
  ...LINE_FORMATS,
  {
    name: "toy",
    goldens: [],
    write: oneFile("a.toy", () =>
      toyBytes(TEXTS.map((text, i) => ({
        name: `${i}`,
        label: WORDS[i]!,
        bytes: utf8(text),
      })))),
    files: { 0: TEXTS[0], 1: TEXTS[1], 2: TEXTS[2] },
    openDataset: (path, options) =>
      openDataset(path, { ...options, decode: false }),
    keys: TEXTS,
    keyOf: bytesOfFile,
    labels: { key: "label", values: WORDS },
    isSummed: true,
    cuts: ["bad-index"],
    damages: [{ at: -1 }],
  },
];

/** All formats, by name in test titles. */
export const CASES: ReadonlyMap<string, FormatCase> = new Map(
  FORMATS.map((one) => [[one.name, one.kind].filter(Boolean).join(", "), one]),
);

// Threads of loaders register it themselves.
await registerFormat(
  new URL("../../support/toy_format/toy_format.ts", import.meta.url),
);
