import type { LinkOrder } from "../../../src/tree/trees/link_targets.ts";

/** Reverses the samples, rotated by one more position each epoch. */
export function reopenOrders(data: unknown): (epoch: number) => LinkOrder {
  const length = data as number;
  return (epoch) => ({
    length,
    at: (position) => (2 * length - 1 - position + epoch) % length,
  });
}

/** URL of this module. */
export const MODULE: string = import.meta.url;
