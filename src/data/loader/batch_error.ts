import type { ErrorFacts } from "../../base/errors.ts";
import { DataError } from "../data_error.ts";

/** Facts of a {@linkcode BatchError}. */
interface BatchFacts extends ErrorFacts {
  /** Epoch of the batch. */
  readonly epoch: number;
  /** Position of the batch in its epoch. */
  readonly step: number;
  /** Indices of the batch's samples. */
  readonly indices: readonly number[];
  /** Number of the thread that loaded it, from 0; `undefined` for the caller's thread. */
  readonly worker?: number | undefined;
}

export type BatchJob = Pick<BatchFacts, "epoch" | "step" | "indices">;

/**
 * A batch could not be loaded. If the failed sample is known, `sample` is its index in the dataset and `path` its
 * file. `cause` is the error of the dataset, the transform or the collating function.
 */
export class BatchError extends DataError {
  /** Epoch of the batch. */
  readonly epoch: number;
  /** Position of the batch in its epoch. */
  readonly step: number;
  /** Indices of the batch's samples. */
  readonly indices: readonly number[];
  /** Number of the thread that loaded it, from 0; `undefined` for the caller's thread. */
  readonly worker: number | undefined;

  /** @ignore Called by the loader. */
  constructor(code: DataError["code"], message: string, facts: BatchFacts) {
    super(code, message, facts);
    this.epoch = facts.epoch;
    this.step = facts.step;
    this.indices = facts.indices;
    this.worker = facts.worker;
  }
}

/** Makes the error for a batch. The message begins with the batch's name. */
export function batchError(
  code: DataError["code"],
  why: string,
  { epoch, step, indices }: BatchJob,
  facts: Omit<BatchFacts, keyof BatchJob> = {},
): BatchError {
  const job = { epoch, step, indices };
  return new BatchError(code, `Cannot load ${nameOf(job)}: ${why}`, {
    ...facts,
    ...job,
  });
}

/** Maximum number of indices in a message. */
const SHOWN = 8;

function nameOf({ epoch, step, indices }: BatchJob): string {
  const shown = indices.slice(0, SHOWN).join(", ");
  const more = indices.length - SHOWN;
  return `batch ${step} of epoch ${epoch} ` +
    `(sample${indices.length === 1 ? "" : "s"} ` +
    `${shown}${more > 0 ? ` and ${more} more` : ""})`;
}
