/** HDF5, as an entry of the contract suite's table. */
import * as fs from "node:fs";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import { byWord, oneFile } from "./small_containers.ts";

/** A file that h5py wrote, of three rows. */
const SMALL = `${REPOSITORY}test/golden/hdf5/small/small.h5`;

export const HDF5: FormatCase = {
  name: "hdf5",
  goldens: goldensIn("hdf5"),
  write: oneFile(
    "a.h5",
    () => fs.readFileSync(SMALL),
  ),
  files: { "n.npy": undefined, "word.json": `["cat","dog","cat"]\n` },
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
};
