/**
 * The order of one epoch: which index stands at which position. Computed, not stored, where
 * possible.
 */
export interface Order {
  /** Number of positions; `Infinity` where the epoch never ends. */
  readonly length: number;
  /**
   * The index at a position.
   *
   * @param position From 0 to `length - 1`: any, at the same cost.
   */
  at(position: number): number;
}

/**
 * Says in what order a dataset is read. The order is a function of the seed and the epoch only, so
 * it is the same on every machine and with any number of workers.
 */
export interface Sampler {
  /** Number of indices in an epoch. */
  readonly length: number;
  /**
   * The order of an epoch.
   *
   * @param seed A safe integer ≥ 0.
   * @param epoch From 0.
   */
  order(seed: number, epoch: number): Order;
}

/** The batches of one epoch. */
export interface BatchOrder {
  /** Number of batches; `Infinity` where the epoch never ends. */
  readonly length: number;
  /** The indices of a batch: any, at the same cost. */
  at(step: number): number[];
}
