/**
 * Samplers: in what order a dataset is read.
 *
 * @module
 */
export type { SamplerLike } from "./as_sampler.ts";
export { batchesOf, type BatchOptions } from "./batch_order.ts";
export { BatchSampler, type BatchSamplerOptions } from "./batch_sampler.ts";
export {
  type BlockShuffleOptions,
  BlockShuffleSampler,
} from "./block_shuffle_sampler.ts";
export { RandomSampler, type RandomSamplerOptions } from "./random_sampler.ts";
export type { BatchOrder, Order, Sampler } from "./sampler.ts";
export { SequentialSampler } from "./sequential_sampler.ts";
export { SubsetRandomSampler } from "./subset_random_sampler.ts";
export { SubsetSampler } from "./subset_sampler.ts";
export {
  WeightedRandomSampler,
  type WeightedRandomSamplerOptions,
} from "./weighted_random_sampler.ts";
