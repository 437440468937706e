import type { SkippedSample } from "./skipped_samples.ts";
import type { BatchOrder } from "../samplers/sampler.ts";

/** Start of a loop. */
export interface LoopStart {
  /** Batches of the epoch. */
  readonly order: BatchOrder;
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

/** Batches of one loop. */
export interface Batches {
  /**
   * Returns the next batch. The caller must not exceed the number of batches, and must wait for the previous one.
   *
   * @throws If the batch cannot be loaded; the loop cannot continue then.
   */
  next(): Promise<Delivered>;
  /**
   * Stops loading. Pending calls of `next` reject.
   *
   * @param keep Whether threads stay alive for the next loop.
   */
  end(keep: boolean): Promise<void>;
}
