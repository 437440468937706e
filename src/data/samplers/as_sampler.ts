import { isList } from "./pack_indices.ts";
import { isSample, noSample } from "./orders.ts";
import type { Order, Sampler } from "./sampler.ts";
import { SubsetSampler } from "./subset_sampler.ts";

/** What a loader takes as its sampler: one, or the indices of every epoch in their order. */
export type SamplerLike = Sampler | ArrayLike<number> | Iterable<number>;

/**
 * The sampler that is meant, held to a dataset: every index it gives is checked against the length.
 *
 * @param sampler Indices are copied; an iterable is read to its end.
 * @param length Number of samples in the dataset; may be `Infinity`.
 * @throws {TypeError} If it is none of the three.
 * @throws {RangeError} If one of the given indices is not a whole number from 0 on.
 * @throws {DataError} With code `bad-batch` when an index is asked for that the dataset does not
 * have.
 */
export function asSampler(sampler: SamplerLike, length: number): Sampler {
  const given = samplerOf(sampler);
  return {
    length: given.length,
    order: (seed, epoch) => checkedOrder(given.order(seed, epoch), length),
  };
}

/**
 * The sampler that is meant.
 *
 * @throws {TypeError} If it is neither a sampler nor a list of indices.
 */
export function samplerOf(sampler: SamplerLike): Sampler {
  if (isSampler(sampler)) return sampler;
  if (isList(sampler)) return new SubsetSampler(sampler);
  throw new TypeError(
    "This is no sampler: give an object with length and order(seed, epoch), or a list of indices",
  );
}

function isSampler(value: SamplerLike): value is Sampler {
  return typeof value === "object" && value !== null && "order" in value &&
    typeof value.order === "function";
}

function checkedOrder(order: Order, samples: number): Order {
  return {
    length: order.length,
    at(position) {
      const index = order.at(position);
      if (isSample(index, samples)) return index;
      const where = ["sampler", `at position ${position}`] as const;
      throw noSample(index, samples, where, "the length of this dataset");
    },
  };
}
