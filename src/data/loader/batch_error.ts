import type { ErrorFacts } from "../../base/errors.ts";
import { DataError, type DataErrorCode } from "../data_error.ts";

/** Facts of a {@linkcode BatchError}. */
export interface BatchFacts extends ErrorFacts {
  /** The batch's epoch. */
  readonly epoch: number;
  /** The batch's place in it. */
  readonly step: number;
  /** The samples of the batch. */
  readonly indices: readonly number[];
  /** The thread that had it, from 0; `undefined` where it was the caller's. */
  readonly worker?: number | undefined;
}

/** Which batch of which epoch, and of what. */
export type BatchJob = Pick<BatchFacts, "epoch" | "step" | "indices">;

/**
 * A batch could not be loaded. `sample` is the index in the dataset and `path` the file, where it is
 * known which sample it was; `cause` is the error of the dataset, the transform or the collating.
 */
export class BatchError extends DataError {
  /** The batch's epoch. */
  readonly epoch: number;
  /** The batch's place in it. */
  readonly step: number;
  /** The samples of the batch. */
  readonly indices: readonly number[];
  /** The thread that had it, from 0; `undefined` where it was the caller's. */
  readonly worker: number | undefined;

  /** Makes the error; the loader does. */
  constructor(code: DataErrorCode, message: string, facts: BatchFacts) {
    super(code, message, facts);
    this.epoch = facts.epoch;
    this.step = facts.step;
    this.indices = facts.indices;
    this.worker = facts.worker;
  }
}

/** The error for a batch; its message begins with which one it is. */
export function batchError(
  code: DataErrorCode,
  why: string,
  { epoch, step, indices }: BatchJob,
  facts: Omit<BatchFacts, keyof BatchJob> = {},
): BatchError {
  const job = { epoch, step, indices };
  return new BatchError(code, `${nameOf(job)}: ${why}`, { ...facts, ...job });
}

/** Number of indices that a message shows. */
const SHOWN = 8;

function nameOf({ epoch, step, indices }: BatchJob): string {
  const shown = indices.slice(0, SHOWN).join(", ");
  const more = indices.length - SHOWN;
  return `Batch ${step} of epoch ${epoch} (sample${
    indices.length === 1 ? "" : "s"
  } ${shown}${more > 0 ? ` and ${more} more` : ""})`;
}
