import { DataError } from "../data_error.ts";
import { batchesOf } from "../samplers/batches.ts";
import {
  type BatchOrder,
  remembered,
  requireSample,
  type Sampler,
} from "../samplers/sampler.ts";
import { asSampler } from "../samplers/subset_samplers.ts";
import {
  RandomSampler,
  SequentialSampler,
} from "../samplers/whole_samplers.ts";
import type { LoaderSettings } from "./loader_options.ts";

/**
 * Plans which samples make the batches of an epoch, which follows from the seed and the epoch.
 *
 * @param samples Number of samples in the dataset.
 * @returns What gives the batches of an epoch.
 * @throws {RangeError} If a dataset that never ends is to be shuffled.
 */
export function planBatches(
  settings: LoaderSettings,
  samples: number,
): (epoch: number) => BatchOrder {
  const { seed, batchSize, dropLast, padRanks, batchSampler } = settings;
  const { rank, worldSize } = settings;
  const share = { rank, worldSize, pad: padRanks };
  if (batchSampler === undefined) {
    const sampler = samplerOf(settings, samples);
    const cut = { ...share, batchSize: batchSize!, dropLast };
    return remembered((epoch) => batchesOf(sampler.order(seed, epoch), cut));
  }
  return remembered((epoch) => {
    const order = batchSampler.order(seed, epoch);
    const { length } = batchSampler;
    const all = { length, at: Number };
    const steps = batchesOf(all, { ...share, batchSize: 1 });
    return {
      length: steps.length,
      at: (step) => checkedBatch(order, steps.at(step)[0]!, samples),
    };
  });
}

function samplerOf(
  { sampler, shuffle }: LoaderSettings,
  samples: number,
): Sampler {
  if (sampler !== undefined) return asSampler(sampler, samples);
  return shuffle ? new RandomSampler(samples) : new SequentialSampler(samples);
}

/** A batch of a batch sampler, checked. */
function checkedBatch(
  order: BatchOrder,
  batch: number,
  samples: number,
): number[] {
  const indices = order.at(batch);
  if (!Array.isArray(indices) || indices.length === 0) {
    throw new DataError(
      "bad-batch",
      `The batch sampler gave no list of indices for batch ${batch}: a batch has one or more`,
      { actual: indices },
    );
  }
  for (const index of indices) {
    requireSample(index, samples, "batch sampler", batch);
  }
  return indices;
}
