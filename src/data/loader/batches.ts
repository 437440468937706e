import type { SkippedSample } from "./skipped_samples.ts";
import type { Order } from "../samplers/sampler.ts";

export interface LoopStart {
  readonly order: Order<number[]>;
  readonly epoch: number;
  /** Position of the loop's first batch in the epoch. */
  readonly step: number;
}

/** A batch for the caller, with the loader's memory that it occupies. */
export interface Delivered {
  /** `undefined` if all samples were skipped. */
  readonly batch: unknown;
  /** Damaged samples that were skipped. */
  readonly skipped: readonly SkippedSample[];
  readonly buffers: readonly ArrayBufferLike[];
}

export interface Batches {
  /**
   * Returns the next batch; rejects if it cannot be loaded, which ends the loop. The caller must not exceed the
   * number of batches, and must wait for the previous one.
   */
  next(): Promise<Delivered>;
  /** Stops loading; pending calls of `next` reject. If `keep`, threads stay alive for the next loop. */
  end(keep: boolean): Promise<void>;
}
