import { RecordfsError } from "../base/errors.ts";

/** Codes of {@linkcode DataError}. */
export type DataErrorCode =
  | "bad-batch"
  | "bad-indices"
  | "bad-state"
  | "not-portable"
  | "sample-failed"
  | "worker-died"
  | "worker-failed"
  | "worker-timeout";

/** Error of loading data for training. */
export class DataError extends RecordfsError<DataErrorCode> {}
