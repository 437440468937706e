/**
 * Messages between the loader and its threads.
 *
 * @module
 */
import type { ThreadModule } from "../../../io/concurrency/thread_modules.ts";
import type { DecodeMemoryShare } from "../../../codecs/image/decode_memory.ts";
import type { Recipe } from "../../recipe.ts";
import type { SkippedSample } from "../skipped_samples.ts";
import type { BatchJob } from "../batch_error.ts";
import type { SerializedError } from "../../../base/serialized_error.ts";

export interface ThreadSetup {
  /** Number of the thread, from 0. */
  readonly worker: number;
  readonly numWorkers: number;
  /** Modules to import first, for instance to register formats. */
  readonly modules: readonly ThreadModule[];
  readonly dataset: Recipe;
  /** Expected number of samples. */
  readonly length: number;
  /** Recipe of the collating function; `undefined` stacks, `false` leaves a list. */
  readonly collate: Recipe | false | undefined;
  readonly seed: number;
  readonly skips: boolean;
  readonly shared: boolean;
  /** Share of the memory for decoding images. */
  readonly decodeMemory: DecodeMemoryShare;
  /** Recipe of a function to call with the thread's number. */
  readonly init: Recipe | undefined;
}

/** A batch to load. */
export interface LoadMessage extends BatchJob {
  readonly kind: "load";
  /** Loop that the batch belongs to. */
  readonly loop: number;
  /** Recycled memory. */
  readonly memory: readonly ArrayBufferLike[];
}

export type ToThread =
  /** Constructs the dataset. */
  | { readonly kind: "start"; readonly setup: ThreadSetup }
  | LoadMessage
  /** Cancels the batches of that loop and of earlier ones. */
  | { readonly kind: "forget"; readonly loop: number }
  /** Cancels everything, closes the dataset and ends the thread. */
  | { readonly kind: "close" };

export type FromThread =
  | {
    readonly kind: "batch";
    readonly loop: number;
    readonly step: number;
    /** `undefined` if all samples were skipped. */
    readonly batch: unknown;
    readonly skipped: readonly SkippedSample[];
    /** Buffers transferred with the batch. */
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

/** Returns the buffers that must be listed for transfer; shared memory passes without. */
export function transferable(
  buffers: readonly ArrayBufferLike[],
): ArrayBuffer[] {
  return buffers.filter((buffer) => buffer instanceof ArrayBuffer);
}
