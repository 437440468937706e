import { crc32 } from "node:zlib";
import { DataError } from "../data_error.ts";
import { batchesOf } from "../samplers/batches.ts";
import {
  type Order,
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

/** Determines which samples make the batches of an epoch. */
export interface BatchPlan {
  /** Returns this rank's batches of an epoch. */
  batches(epoch: number): Order<number[]>;
  /** Returns a number that identifies the order of an epoch, across all ranks; `null` if the sampler throws. */
  fingerprint(epoch: number): number | null;
}

/** Number of positions, spread over an order, that its fingerprint covers. */
const PLACES = 64;

/**
 * Plans the batches of each epoch. The plan depends on the seed and the epoch.
 *
 * @param samples Number of samples in the dataset.
 * @throws {RangeError} If an endless dataset is to be shuffled.
 */
export function planBatches(
  settings: LoaderSettings,
  samples: number,
): BatchPlan {
  const { seed, batchSize, dropLast, padRanks, batchSampler } = settings;
  const { rank, worldSize } = settings;
  const share = { rank, worldSize, pad: padRanks };
  if (batchSampler === undefined) {
    const sampler = samplerOf(settings, samples);
    const cut = { ...share, batchSize: batchSize!, dropLast };
    const orders = remembered((epoch) => sampler.order(seed, epoch));
    return {
      batches: remembered((epoch) => batchesOf(orders(epoch), cut)),
      fingerprint: remembered((epoch) => fingerprintOf(orders(epoch))),
    };
  }
  const orders = remembered((epoch) => batchSampler.order(seed, epoch));
  return {
    batches: remembered((epoch) => {
      const order = orders(epoch);
      const all = { length: batchSampler.length, at: Number };
      const steps = batchesOf(all, { ...share, batchSize: 1 });
      return {
        length: steps.length,
        at: (step) => checkedBatch(order, steps.at(step)[0]!, samples),
      };
    }),
    fingerprint: remembered((epoch) =>
      fingerprintOf(orders(epoch), batchSampler.length)
    ),
  };
}

/** @param length Length of the order, if it does not say it itself. */
function fingerprintOf(
  order: Order | Order<number[]>,
  length = order.length,
): number | null {
  const count = Math.min(PLACES, length);
  const last = Math.min(length, 2 ** 32) - 1; // an order may be endless
  const places = Array.from(
    { length: count },
    (_, i) => Math.floor(i * last / Math.max(1, count - 1)),
  );
  try {
    return crc32(JSON.stringify(places.map((place) => order.at(place))));
  } catch {
    return null; // the loop that gets there throws the error
  }
}

function samplerOf(
  { sampler, shuffle }: LoaderSettings,
  samples: number,
): Sampler {
  if (sampler !== undefined) return asSampler(sampler, samples);
  return shuffle ? new RandomSampler(samples) : new SequentialSampler(samples);
}

function checkedBatch(
  order: Order<number[]>,
  batch: number,
  samples: number,
): number[] {
  const indices = order.at(batch);
  if (!Array.isArray(indices) || indices.length === 0) {
    throw new DataError(
      "bad-batch",
      `Cannot load batch ${batch}: the batch sampler gave no list of ` +
        "indices for it. A batch must have one or more",
      { actual: indices },
    );
  }
  for (const index of indices) {
    requireSample(index, samples, "batch sampler", batch);
  }
  return indices;
}
