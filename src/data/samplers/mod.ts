/**
 * Samplers: the order in which a dataset is read.
 *
 * @module
 */
export { batchesOf, BatchSampler } from "./batches.ts";
export { BlockShuffleSampler } from "./block_shuffle_sampler.ts";
export type { Order, Sampler } from "./sampler.ts";
export { SubsetRandomSampler, SubsetSampler } from "./subset_samplers.ts";
export { WeightedRandomSampler } from "./weighted_random_sampler.ts";
export { RandomSampler, SequentialSampler } from "./whole_samplers.ts";
