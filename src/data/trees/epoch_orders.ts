import type { Order } from "../samplers/sampler.ts";
import { RandomSampler } from "../samplers/whole_samplers.ts";

export interface EpochOrders {
  /** Number of samples. */
  readonly length: number;
  /** A safe integer ≥ 0. */
  readonly seed: number;
}

/**
 * Returns what another thread needs to get the orders: the URL of this module, which exports `reopenOrders`, and
 * its argument.
 */
export function ordersHandle(
  data: EpochOrders,
): { readonly module: string; readonly data: EpochOrders } {
  return { module: import.meta.url, data };
}

/** Returns a function from an epoch to the order in which a `DataLoader` with `shuffle` reads the samples. */
export function reopenOrders(data: unknown): (epoch: number) => Order {
  const { length, seed } = data as EpochOrders;
  const sampler = new RandomSampler(length);
  return (epoch) => sampler.order(seed, epoch);
}
