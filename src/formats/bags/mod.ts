/**
 * Bags and Granular datasets of all three generations: readers as in Python.
 *
 * @module
 */
export { type BagOptions, BagReader } from "./bag_reader.ts";
export type { Decoder, Decoders } from "./column.ts";
export type { Datapoint } from "./datapoint.ts";
export type { DatasetOptions } from "./dataset_options.ts";
export { DatasetReader } from "./dataset_reader.ts";
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
export type { Spec } from "./spec.ts";
export type { WaitOptions } from "../../io/byte_source.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  RecordfsError,
} from "../../errors.ts";
