/**
 * TFRecord: `TFRecordReader` for records and for examples of TensorFlow, `TFRecordWriter`.
 *
 * @module
 */
export {
  type TFRecordOptions,
  TFRecordReader,
} from "./read/tfrecord_reader.ts";
export {
  TFRecordWriter,
  type TFRecordWriterOptions,
} from "./write/tfrecord_writer.ts";
export type { FeatureValue, TFExample } from "./proto/example.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../io/read/read_memory.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export { WriterBase } from "../../io/write/writer_base.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export * from "../../base/errors.ts";
