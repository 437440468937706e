/**
 * Data loading for training: datasets of every format, samplers, and a resumable multi-threaded loader.
 *
 * @module
 */
export * from "../../formats/gulp/data/gulp.ts";
export * from "./datasets.ts";
export { BatchError } from "../../data/loader/batch_error.ts";
export type { Collated } from "../../data/loader/batch/collate.ts";
export { DataLoader } from "../../data/loader/data_loader.ts";
export type { LoaderOptions } from "../../data/loader/loader_options.ts";
export type { LoaderState } from "../../data/loader/loader_state.ts";
export { permutation } from "../../data/random/permutation.ts";
export { Random } from "../../data/random/random.ts";
export { batchesOf, BatchSampler } from "../../data/samplers/batches.ts";
export { BlockShuffleSampler } from "../../data/samplers/block_shuffle_sampler.ts";
export type { Order, Sampler } from "../../data/samplers/sampler.ts";
export {
  SubsetRandomSampler,
  SubsetSampler,
} from "../../data/samplers/subset_samplers.ts";
export { WeightedRandomSampler } from "../../data/samplers/weighted_random_sampler.ts";
export {
  RandomSampler,
  SequentialSampler,
} from "../../data/samplers/whole_samplers.ts";
export { Epochs, Mix, Sample } from "../../data/sources/drawn_sources.ts";
export { Interleave, Truncate } from "../../data/sources/ordered_sources.ts";
export { Transform } from "../../data/sources/transform.ts";
export * from "../../data/transforms/mod.ts";
