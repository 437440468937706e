import type { BagOptions } from "./bag_reader.ts";
import type { Decoders } from "./column.ts";

/** How to open a dataset. */
export interface DatasetOptions extends BagOptions {
  /** What makes values of records; `null` for values that are bytes. */
  readonly decoders: Decoders | null;
  /**
   * Keys whose bags are held in memory whole; in generations 1 and 2 also `refs`, where the
   * references are.
   */
  readonly cacheKeys?: readonly string[] | undefined;
  /**
   * Whether asynchronous methods read the keys of a datapoint at the same time, which pays where
   * they lie on a disk that is waited for; `false` by default.
   */
  readonly parallel?: boolean | undefined;
}
