import { DataError } from "../data_error.ts";
import { asSampler } from "../samplers/as_sampler.ts";
import { batchesOf } from "../samplers/batch_order.ts";
import type { BatchSampler } from "../samplers/batch_sampler.ts";
import { isSample, noSample } from "../samplers/orders.ts";
import { RandomSampler } from "../samplers/random_sampler.ts";
import type { BatchOrder, Sampler } from "../samplers/sampler.ts";
import { SequentialSampler } from "../samplers/sequential_sampler.ts";
import type { LoaderSettings } from "./loader_options.ts";

/** Which samples make the batches of an epoch: a function of the seed and the epoch. */
export class BatchPlan {
  readonly #settings: LoaderSettings;
  readonly #samples: number;
  readonly #sampler: Sampler | undefined;
  /** The epoch that was last asked for. */
  #epoch: number | undefined;
  #batches: BatchOrder | undefined;

  /**
   * @param samples Number of samples in the dataset.
   * @throws {RangeError} If a dataset that never ends is to be shuffled.
   */
  constructor(settings: LoaderSettings, samples: number) {
    this.#settings = settings;
    this.#samples = samples;
    this.#sampler = settings.batchSampler === undefined
      ? samplerOf(settings, samples)
      : undefined;
  }

  /** The batches of an epoch. */
  batches(epoch: number): BatchOrder {
    if (this.#epoch !== epoch || this.#batches === undefined) {
      this.#batches = this.#order(epoch);
      this.#epoch = epoch;
    }
    return this.#batches;
  }

  #order(epoch: number): BatchOrder {
    const {
      seed,
      batchSize,
      dropLast,
      rank,
      worldSize,
      padRanks,
      batchSampler,
    } = this.#settings;
    if (batchSampler !== undefined) {
      return new SampledBatches(
        batchSampler.order(seed, epoch),
        this.#samples,
        batchesOf({ length: batchSampler.length, at: Number }, {
          batchSize: 1,
          rank,
          worldSize,
          pad: padRanks,
        }),
      );
    }
    return batchesOf(this.#sampler!.order(seed, epoch), {
      batchSize: batchSize!,
      dropLast,
      rank,
      worldSize,
      pad: padRanks,
    });
  }
}

function samplerOf(
  { sampler, shuffle }: LoaderSettings,
  samples: number,
): Sampler {
  if (sampler !== undefined) return asSampler(sampler, samples);
  return shuffle ? new RandomSampler(samples) : new SequentialSampler(samples);
}

/** The batches of a rank, out of those that a batch sampler gives; their indices are checked. */
class SampledBatches implements BatchOrder {
  readonly length: number;
  readonly #order: ReturnType<BatchSampler["order"]>;
  readonly #samples: number;
  readonly #steps: BatchOrder;

  /** @param steps Which of the batches are this rank's, one at each step. */
  constructor(order: BatchOrder, samples: number, steps: BatchOrder) {
    this.length = steps.length;
    this.#order = order;
    this.#samples = samples;
    this.#steps = steps;
  }

  at(step: number): number[] {
    const batch = this.#steps.at(step)[0]!;
    const indices = this.#order.at(batch);
    if (!Array.isArray(indices) || indices.length === 0) {
      throw new DataError(
        "bad-batch",
        `The batch sampler gave no list of indices for batch ${batch}: a batch has one or more`,
        { actual: indices },
      );
    }
    for (const index of indices) {
      if (isSample(index, this.#samples)) continue;
      const where = ["batch sampler", `for batch ${batch}`] as const;
      throw noSample(index, this.#samples, where, "this dataset");
    }
    return indices;
  }
}
