import type { SkippedSample } from "./skipped_samples.ts";
import type { BatchOrder } from "../samplers/sampler.ts";

/** Where a loop begins. */
export interface LoopStart {
  /** The batches of the epoch. */
  readonly order: BatchOrder;
  readonly epoch: number;
  /** The first one's place in it. */
  readonly step: number;
}

/** A batch that is handed to the caller, with the loader's memory that it lies in. */
export interface Delivered {
  /** `undefined` where all samples were left out. */
  readonly batch: unknown;
  /** Samples that were left out, since they are damaged. */
  readonly skipped: readonly SkippedSample[];
  readonly buffers: readonly ArrayBufferLike[];
}

/** The batches of one loop. */
export interface Batches {
  /**
   * The next batch. Asked for only when there is one, and when the one before has come.
   *
   * @throws Why it cannot be loaded; there is no further one then.
   */
  next(): Promise<Delivered>;
  /**
   * Stops loading; who waits for a batch gets an error.
   *
   * @param keep Whether threads live on for the next loop.
   */
  end(keep: boolean): Promise<void>;
}
