/**
 * MDS of MosaicML Streaming: `MDSReader` and `MDSWriter` for samples of columns in shards.
 *
 * @module
 */
export type { MDSBytes, MDSSample } from "./read/mds_samples.ts";
export {
  type MDSColumn,
  type MDSColumnOptions,
  type MDSOptions,
  MDSReader,
  type MDSReadOptions,
  type MDSReadSyncOptions,
} from "./read/mds_reader.ts";
export { MDSWriter, type MDSWriterOptions } from "./write/mds_writer.ts";
export type { MDSValue } from "./encodings/decode.ts";
export type { MDSInput } from "./encodings/encode.ts";
export type { AlphaImage } from "../../codecs/image/image.ts";
export type { JsonValue } from "../../codecs/json/value.ts";
export type {
  NdArray,
  NpyContent,
  NumericArray,
} from "../../codecs/numpy/nd_array.ts";
export type { PickledValue } from "../../codecs/pickle/read_pickle.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../io/read/read_memory.ts";
export { WriterBase } from "../../io/write/writer_base.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export * from "../../base/errors.ts";
