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
export * from "./types/mod.ts";
export { GrowingMemory as RecordMemory } from "../../io/read/read_memory.ts";
