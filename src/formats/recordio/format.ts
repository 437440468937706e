import { rangeFormat } from "../../tree/samples/range_format.ts";
import type { Format } from "../format.ts";
import { isNamedSo } from "./layout.ts";
import { openRecords } from "./open_records.ts";
import { RecordIOSamples } from "./recordio_samples.ts";

export const recordio: Format = rangeFormat({
  name: "recordio",
  format: "RecordIO",
  examples: "train.rec",
  suffixes: /\.rec$/i,
  isShard: isNamedSo,
  openFile: openRecords,
  samplesOf: (...opened) => new RecordIOSamples(...opened),
});
