/** Formats of tensors, and of samples that PyTorch's libraries write, for the contract suite. */
import type { NdArray } from "../../../src/codecs/numpy/nd_array.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import {
  bytesTensor,
  tensorsFile,
} from "../../support/safetensors/make_safetensors.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import { fileShards, oneFile } from "./small_containers.ts";

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
];
