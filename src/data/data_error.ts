import { RecordfsError } from "../base/errors.ts";

/** Error of loading data for training. */
export class DataError extends RecordfsError<
  | "bad-batch"
  | "bad-indices"
  | "bad-state"
  | "not-portable"
  | "sample-failed"
  | "worker-died"
  | "worker-failed"
  | "worker-timeout"
> {}
