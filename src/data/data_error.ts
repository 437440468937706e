import { type ErrorFacts, RecordfsError } from "../errors.ts";

/** What a {@linkcode DataError} can be about. */
export type DataErrorCode =
  | "bad-batch"
  | "bad-indices"
  | "bad-state"
  | "not-portable"
  | "sample-failed"
  | "worker-died"
  | "worker-failed"
  | "worker-timeout";

/** Loading data for training failed. */
export class DataError extends RecordfsError {
  /** What is wrong. */
  declare readonly code: DataErrorCode;

  /** Makes the error; `facts.sample` is the index in the dataset, `facts.path` the file. */
  constructor(code: DataErrorCode, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}
