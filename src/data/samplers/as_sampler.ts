import { DataError } from "../data_error.ts";
import { isList } from "./pack_indices.ts";
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
    order: (seed, epoch) => new CheckedOrder(given.order(seed, epoch), length),
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

class CheckedOrder implements Order {
  readonly length: number;
  readonly #order: Order;
  readonly #samples: number;

  constructor(order: Order, samples: number) {
    this.length = order.length;
    this.#order = order;
    this.#samples = samples;
  }

  at(position: number): number {
    const index = this.#order.at(position);
    if (Number.isSafeInteger(index) && index >= 0 && index < this.#samples) {
      return index;
    }
    throw new DataError(
      "bad-batch",
      `The sampler gave index ${
        String(index)
      } at position ${position}, but the dataset has ` +
        `${this.#samples} samples: make the sampler for the length of this dataset`,
      { expected: this.#samples, actual: index },
    );
  }
}
