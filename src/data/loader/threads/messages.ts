/**
 * What the loader and its threads tell each other.
 *
 * @module
 */
import type { ThreadModule } from "../../../io/concurrency/thread_modules.ts";
import type { DecodeMemoryShare } from "../../../codecs/image/decode_memory.ts";
import type { Recipe } from "../../recipe.ts";
import type { SkippedSample } from "../skipped_samples.ts";
import type { BatchJob } from "../batch_error.ts";
import type { SerializedError } from "../../../base/serialized_error.ts";

/** Setup of a thread. */
export interface ThreadSetup {
  /** The thread's number, from 0. */
  readonly worker: number;
  /** Number of threads. */
  readonly numWorkers: number;
  /** What it has to do first, such as registering formats. */
  readonly modules: readonly ThreadModule[];
  /** Recipe of the dataset. */
  readonly dataset: Recipe;
  /** Number of samples that it must have. */
  readonly length: number;
  /** Recipe of what collates; `undefined` stacks, `false` does not. */
  readonly collate: Recipe | false | undefined;
  readonly seed: number;
  /** Whether damaged samples are left out. */
  readonly skips: boolean;
  /** Whether batches are to lie in shared memory. */
  readonly shared: boolean;
  /** Share that it takes memory for images from. */
  readonly decodeMemory: DecodeMemoryShare;
  /** Recipe of what is called with the thread's number. */
  readonly init: Recipe | undefined;
}

/** A batch to load. */
export interface LoadMessage extends BatchJob {
  readonly kind: "load";
  /** Which of the loader's loops it is for. */
  readonly loop: number;
  /** Memory that is not used any more. */
  readonly memory: readonly ArrayBufferLike[];
}

/** To a thread. */
export type ToThread =
  /** Make the dataset. */
  | { readonly kind: "start"; readonly setup: ThreadSetup }
  | LoadMessage
  /** Nobody waits for batches of that loop, or of earlier ones, any more. */
  | { readonly kind: "forget"; readonly loop: number }
  /** Give up, close the dataset and end. */
  | { readonly kind: "close" };

/** From a thread. */
export type FromThread =
  | {
    readonly kind: "batch";
    readonly loop: number;
    readonly step: number;
    /** `undefined` where all samples were left out. */
    readonly batch: unknown;
    /** Samples that were left out, since they are damaged. */
    readonly skipped: readonly SkippedSample[];
    /** The buffers that passed along with it. */
    readonly buffers: readonly ArrayBufferLike[];
  }
  | {
    readonly kind: "failed";
    readonly loop: number;
    readonly step: number;
    readonly error: SerializedError;
  }
  /** The thread cannot load anything. */
  | { readonly kind: "broken"; readonly error: SerializedError };

/** What of buffers passes along with a message only if it is named: shared memory does anyhow. */
export function transferable(
  buffers: readonly ArrayBufferLike[],
): ArrayBuffer[] {
  return buffers.filter((buffer) => buffer instanceof ArrayBuffer);
}
