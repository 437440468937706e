/**
 * TFRecord: `TFRecordWriter`, and the types of decoded TensorFlow examples. `openSamples` of `@recordfs/recordfs` reads
 * records and examples.
 *
 * @module
 */
export {
  TFRecordWriter,
  type TFRecordWriterOptions,
} from "./write/tfrecord_writer.ts";
export type { FeatureValue, TFExample } from "./proto/example.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export { WriterBase } from "../../io/write/writer_base.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export * from "../../base/errors.ts";
