/**
 * MDS of MosaicML Streaming: `MDSWriter`. `openSamples` and `openDataset` read it, as all formats.
 *
 * @module
 */
export { MDSWriter, type MDSWriterOptions } from "./write/mds_writer.ts";
export type { MDSInput } from "./encodings/encode.ts";
export type { JsonValue } from "../../codecs/json/value.ts";
export type {
  NdArray,
  NpyContent,
  NumericArray,
} from "../../codecs/numpy/nd_array.ts";
export { WriterBase } from "../../io/write/writer_base.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export * from "../../base/errors.ts";
