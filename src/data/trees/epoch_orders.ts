import type { Order } from "../samplers/sampler.ts";
import { RandomSampler } from "../samplers/whole_samplers.ts";

/** Data that the orders of epochs follow from. */
export interface EpochOrders {
  /** Number of samples. */
  readonly length: number;
  /** A safe integer ≥ 0. */
  readonly seed: number;
}

/** Way for another thread to get the orders: URL of a module that exports `reopenOrders`, and what to give it. */
export function ordersHandle(
  data: EpochOrders,
): { readonly module: string; readonly data: EpochOrders } {
  return { module: import.meta.url, data };
}

/** The orders in which a `DataLoader` with `shuffle` reads so many samples, by epoch. */
export function reopenOrders(data: unknown): (epoch: number) => Order {
  const { length, seed } = data as EpochOrders;
  const sampler = new RandomSampler(length);
  return (epoch) => sampler.order(seed, epoch);
}
