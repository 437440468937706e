import type { Order } from "../../../src/data/samplers/sampler.ts";

/** Returns all indices of an order. */
export function indicesOf(order: Order): number[] {
  return Array.from({ length: order.length }, (_, i) => order.at(i));
}

/** Returns numbers in ascending order. */
export function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}

/** Returns the whole numbers below a length. */
export function upTo(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
