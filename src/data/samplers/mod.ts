/**
 * Samplers: the order in which a dataset is read.
 *
 * @module
 */
export {
  batchesOf,
  type BatchOptions,
  BatchSampler,
  type BatchSamplerOptions,
} from "./batches.ts";
export {
  type BlockShuffleOptions,
  BlockShuffleSampler,
} from "./block_shuffle_sampler.ts";
export type { BatchOrder, Order, Sampler } from "./sampler.ts";
export {
  type SamplerLike,
  SubsetRandomSampler,
  SubsetSampler,
} from "./subset_samplers.ts";
export {
  WeightedRandomSampler,
  type WeightedRandomSamplerOptions,
} from "./weighted_random_sampler.ts";
export {
  RandomSampler,
  type RandomSamplerOptions,
  SequentialSampler,
} from "./whole_samplers.ts";
