/**
 * Bags and Granular of all three generations: readers and writers as in Python, and the encoders and
 * decoders of the types that the packages ship.
 *
 * @module
 */
export { type BagOptions, BagReader } from "./bag_reader.ts";
export { BagWriter, type BagWriterOptions } from "./bag_writer.ts";
export type { Datapoint } from "./datapoint.ts";
export type { DatasetOptions } from "./dataset_options.ts";
export { DatasetReader } from "./dataset_reader.ts";
export { DatasetWriter } from "./dataset_writer.ts";
export type { Generation } from "./generation.ts";
export type { ListRange } from "./list_range.ts";
export type { ShardedDatasetOptions } from "./open_shards.ts";
export {
  type ReadOptions,
  type ReadSyncOptions,
  RecordMemory,
} from "./record_memory.ts";
export type { Mask } from "./selection.ts";
export { ShardedDatasetReader } from "./sharded_dataset_reader.ts";
export type { ShardLimits } from "./shard_output.ts";
export {
  ShardedDatasetWriter,
  type ShardedDatasetWriterOptions,
} from "./sharded_dataset_writer.ts";
export type { Spec } from "./spec.ts";
export type { DatasetWriterOptions, FlushOptions } from "./write_options.ts";
export * from "./types/mod.ts";
export type { NdArray, NumericArray } from "../../codecs/numpy/nd_array.ts";
export type { SampleData } from "../../io/sample_data.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../io/batch_read_options.ts";
export type { BatchRoom } from "../../io/read_memory.ts";
export type { WaitOptions } from "../../io/byte_source.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  RecordfsError,
  WriteError,
} from "../../errors.ts";
