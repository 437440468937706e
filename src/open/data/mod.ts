/**
 * Data loading for training: datasets of every format, samplers, and a resumable multi-threaded loader.
 *
 * @module
 */
export type * from "../../io/remote/remote_options.ts";
export type { PlaceOptions } from "../../io/storage/place.ts";
export * from "../../formats/gulp/data/gulp.ts";
export * from "./datasets.ts";
export * from "../../data/loader/mod.ts";
export * from "../../data/random/mod.ts";
export * from "../../data/samplers/mod.ts";
export * from "../../data/sources/mod.ts";
export * from "../../data/transforms/mod.ts";
export type { BagOptions } from "../../formats/bags/read/bag_reader.ts";
export type { DatasetOptions } from "../../formats/bags/read/dataset_options.ts";
export type { ListRange } from "../../formats/bags/read/selection.ts";
export type { ShardedDatasetOptions } from "../../formats/bags/read/dataset_options.ts";
export type { Decoder } from "../../formats/bags/types/shipped.ts";
export type { ContainerOptions, OpenContainerOptions } from "../mod.ts";
