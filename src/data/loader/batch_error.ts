import type { ErrorFacts } from "../../errors.ts";
import { DataError, type DataErrorCode } from "../data_error.ts";

/** Which batch of which epoch, and of what. */
export interface BatchJob {
  readonly epoch: number;
  readonly step: number;
  readonly indices: readonly number[];
}

/** Facts of an error about a batch. */
export interface BatchFacts extends ErrorFacts {
  /** The thread that had it, from 0; `undefined` where it was the caller's. */
  readonly worker?: number | undefined;
}

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

  /** Makes the error; its message starts with the batch. */
  constructor(
    code: DataErrorCode,
    why: string,
    job: BatchJob,
    facts: BatchFacts = {},
  ) {
    super(code, `${nameOf(job)}: ${why}`, facts);
    this.epoch = job.epoch;
    this.step = job.step;
    this.indices = job.indices;
    this.worker = facts.worker;
  }
}

/** How many indices a message shows. */
const SHOWN = 8;

function nameOf({ epoch, step, indices }: BatchJob): string {
  const shown = indices.slice(0, SHOWN).join(", ");
  const more = indices.length - SHOWN;
  return `Batch ${step} of epoch ${epoch} (sample${
    indices.length === 1 ? "" : "s"
  } ${shown}${more > 0 ? ` and ${more} more` : ""})`;
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
