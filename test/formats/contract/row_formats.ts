/** Row formats in the table of the contract suite. */
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import {
  arrowFile,
  bytesFile as arrowOfBytes,
} from "../../support/arrow/make_arrow.ts";
import { bytesFile, parquetFile } from "../../support/parquet/make_parquet.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import { byteOf, fileShards, oneFile } from "./small_containers.ts";

export const ROW_FORMATS: readonly FormatCase[] = [
  {
    name: "parquet",
    goldens: goldensIn("parquet"),
    write: oneFile("a.parquet", () => parquetFile()),
    files: {
      "000000/n.json": "7\n",
      "000001/n.json": "8\n",
      "000002/n.json": "9\n",
    },
    openDataset: (path, options) => openDataset(path, options),
    keys: [7, 8, 9],
    keyOf: (row) => (row as { n: number }).n,
    labels: { key: "n", values: ["7", "8", "9"] },
    isSummed: false,
    cuts: ["truncated"],
    // The end of the file gives the number of rows.
    shards: fileShards("parquet", Infinity, bytesFile, byteOf("data")),
    damages: [{ at: 0 }],
  },
  {
    name: "arrow",
    goldens: goldensIn("arrow"),
    write: oneFile("a.arrow", arrowFile),
    files: {
      "000000/n.json": "7\n",
      "000001/n.json": "8\n",
      "000002/n.json": "9\n",
    },
    openDataset: (path, options) => openDataset(path, options),
    keys: [7, 8, 9],
    keyOf: (row) => (row as { n: number }).n,
    labels: { key: "n", values: ["7", "8", "9"] },
    isSummed: false,
    cuts: ["bad-structure", "truncated"],
    // The end of the file gives the number of rows.
    shards: fileShards("arrow", Infinity, arrowOfBytes, byteOf("data")),
    damages: [{ at: -1 }],
  },
];
