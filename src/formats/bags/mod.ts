/**
 * Bags and Granular of all three generations: readers and writers as in Python, and codecs of the types that they ship.
 *
 * @module
 */
export { type BagOptions, BagReader } from "./read/bag_reader.ts";
export { BagWriter, type BagWriterOptions } from "./write/bag_writer.ts";
export type { Datapoint, ListRange, Mask } from "./read/selection.ts";
export type { DatasetOptions } from "./read/dataset_options.ts";
export { DatasetReader } from "./read/dataset_reader.ts";
export { DatasetWriter } from "./write/dataset_writer.ts";
export type { Generation } from "./dataset/dataset_names.ts";
export type { ShardedDatasetOptions } from "./read/dataset_options.ts";
export type { ReadOptions, ReadSyncOptions } from "./read/record_memory.ts";
export { ShardedDatasetReader } from "./read/sharded_dataset_reader.ts";
export type { ShardLimits } from "./write/shard_output.ts";
export {
  ShardedDatasetWriter,
  type ShardedDatasetWriterOptions,
} from "./write/sharded_dataset_writer.ts";
export type { Spec } from "./dataset/spec.ts";
export type { DatasetWriterOptions } from "./write/dataset_target.ts";
export type { FlushOptions, Writer } from "./write/writer.ts";
export type { WriterBase } from "../../io/write/writer_base.ts";
export * from "./types/mod.ts";
export type { NdArray, NumericArray } from "../../codecs/numpy/nd_array.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export {
  type BatchReadOptions,
  type BatchReadSyncOptions,
  type BatchRoom,
  GrowingMemory as RecordMemory,
} from "../../io/read/read_memory.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type * from "../../io/remote/remote_options.ts";
export type { PlaceOptions } from "../../io/storage/place.ts";
export type { Storage } from "../../io/storage/storage.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  RecordfsError,
  WriteError,
} from "../../base/errors.ts";
