/**
 * Bags and Granular of all three generations: readers and writers as in Python, and codecs of the types that they ship.
 *
 * @module
 */
export { type BagOptions, BagReader } from "./read/bag_reader.ts";
export { BagWriter } from "./write/bag_writer.ts";
export type { Datapoint, Mask } from "./read/selection.ts";
export type {
  DatasetOptions,
  ShardedDatasetOptions,
} from "./read/dataset_options.ts";
export { DatasetReader } from "./read/dataset_reader.ts";
export { DatasetWriter } from "./write/dataset_writer.ts";
export type { Generation } from "./dataset/dataset_names.ts";
export { ShardedDatasetReader } from "./read/sharded_dataset_reader.ts";
export { ShardedDatasetWriter } from "./write/sharded_dataset_writer.ts";
export type { DatasetWriterOptions } from "./write/dataset_target.ts";
export type { Writer } from "./write/writer.ts";
export * from "./types/mod.ts";
export { GrowingMemory as RecordMemory } from "../../io/read/read_memory.ts";
