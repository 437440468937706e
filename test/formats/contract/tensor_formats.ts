/** Formats of tensors, and of samples written by PyTorch libraries, for the contract suite. */
import * as fs from "node:fs";
import type { NdArray } from "../../../src/codecs/numpy/nd_array.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import {
  bytesTensor,
  tensorsFile,
} from "../../support/safetensors/make_safetensors.ts";
import {
  chunkOf,
  entryOf,
  indexOf,
  type MadeField,
  NAME,
  sampleOf,
  textSample,
} from "../../support/litdata/make_litdata.ts";
import { COUNT, type FormatCase, goldensIn } from "./format_case.ts";
import { byteOf, fileShards, oneFile, WORDS } from "./small_containers.ts";

const DATA: readonly MadeField[] = [["data", "bytes"]];

/** Writes a LitData chunk, and adds it to its index. */
function writeLitdata(path: string, samples: readonly number[]): void {
  const chunk = chunkOf(samples.map((n) => sampleOf(Uint8Array.of(n))));
  fs.writeFileSync(path, chunk);
  const [, dir, name] = /^(.*)\/(.*)$/.exec(path)!;
  const index = `${dir}/index.json`;
  const { chunks } = fs.existsSync(index)
    ? JSON.parse(fs.readFileSync(index, "utf8"))
    : { chunks: [] };
  chunks.push(entryOf(name!, chunk.length, samples.length));
  fs.writeFileSync(index, indexOf(chunks, DATA));
}

export const TENSOR_FORMATS: readonly FormatCase[] = [
  {
    name: "safetensors",
    goldens: goldensIn("safetensors"),
    write: oneFile(
      "a.safetensors",
      () => tensorsFile([7, 8, 9].map((n) => bytesTensor(`t${n}`, [n]))),
    ),
    files: { "t7.npy": undefined, "t8.npy": undefined, "t9.npy": undefined },
    openDataset: (path, options) => openDataset(path, options),
    keys: ["t7 7", "t8 8", "t9 9"],
    keyOf: (sample) => {
      const { name, value } = sample as { name: string; value: NdArray };
      return `${name} ${value.data[0]}`;
    },
    labels: { key: "name", values: ["t7", "t8", "t9"] },
    isSummed: false,
    cuts: ["truncated-data", "truncated-header"],
    shards: fileShards(
      "safetensors",
      12,
      (samples) => tensorsFile(samples.map((n) => bytesTensor(`${n}`, [n]))),
      (sample) => Number((sample as { value: NdArray }).value.data[0]),
    ),
    damages: [{ at: 0 }, { at: 8 }],
  },
  {
    name: "litdata",
    goldens: goldensIn("litdata"),
    write(dir) {
      const chunk = chunkOf(WORDS.map((word, i) => textSample(i, word)));
      fs.mkdirSync(`${dir}/d`);
      fs.writeFileSync(`${dir}/d/${NAME}`, chunk);
      const chunks = [entryOf(NAME, chunk.length, COUNT)];
      fs.writeFileSync(`${dir}/d/index.json`, indexOf(chunks));
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
    isSummed: false,
    cuts: ["bad-index", "truncated-data"],
    shards: {
      name: (shard) => `chunk-0-${shard}.bin`,
      head: 12,
      keepsNumbers: true,
      write: writeLitdata,
      byteOf: byteOf("data"),
    },
    damages: [{ file: NAME, at: 0 }],
  },
];
