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
