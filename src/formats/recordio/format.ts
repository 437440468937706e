import { rangeFormat } from "../../tree/samples/range_format.ts";
import type { Format } from "../format.ts";
import { NAMED } from "./layout.ts";
import { openRecords } from "./open_records.ts";
import { fieldsIn, RecordIOSamples } from "./recordio_samples.ts";

export const recordio: Format = rangeFormat({
  name: "recordio",
  format: "RecordIO",
  examples: "train.rec",
  suffixes: NAMED,
  isShard: (name) => NAMED.test(name),
  openFile: openRecords,
  samplesOf: (sources, shards, storage) =>
    new RecordIOSamples(sources, shards, storage, fieldsIn(shards)),
});
