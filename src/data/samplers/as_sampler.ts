import { IndexError } from "../../errors.ts";
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
 * @throws {IndexError} If the dataset has no such sample; for a sampler that computes its indices, when
 * the index is asked for.
 */
export function asSampler(sampler: SamplerLike, length: number): Sampler {
  const given = isSampler(sampler) ? sampler : new SubsetSampler(sampler);
  return {
    length: given.length,
    order: (seed, epoch) => new CheckedOrder(given.order(seed, epoch), length),
  };
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
    throw new IndexError(
      index,
      this.#samples,
      `the dataset, but the sampler gave it at position ${position}`,
    );
  }
}
