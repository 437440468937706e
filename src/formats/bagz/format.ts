import { rangeFormat } from "../../tree/samples/range_format.ts";
import type { Format } from "../format.ts";
import { BagzSamples } from "./bagz_samples.ts";
import { INTERLEAVED, isShard, patternOf } from "./layout.ts";
import { openBagzFile } from "./open_bagz.ts";

export const bagz: Format = rangeFormat({
  name: "bagz",
  format: "Bagz",
  examples: "x.bagz or x-00000-of-00010.bagz",
  suffixes: /\.bagz?$/,
  interleaved: INTERLEAVED,
  isShard,
  patternOf,
  openFile: openBagzFile,
  samplesOf: (sources, shards, storage) =>
    new BagzSamples(sources, shards, storage),
});
