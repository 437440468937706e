/**
 * TFRecord: `TFRecordWriter`. `openSamples` of `@recordfs/recordfs` reads records and TensorFlow examples.
 *
 * @module
 */
export { TFRecordWriter } from "./write/tfrecord_writer.ts";
