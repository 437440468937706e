import type { LinkOrder } from "../../../src/tree/link_targets.ts";

/** The last sample first; in each epoch one place further. */
export function reopenOrders(data: unknown): (epoch: number) => LinkOrder {
  const length = data as number;
  return (epoch) => ({
    length,
    at: (position) => (2 * length - 1 - position + epoch) % length,
  });
}

/** Names this module. */
export const MODULE: string = import.meta.url;
