import { RecordfsError } from "../../../base/errors.ts";

/** An ingest cannot be done as requested. */
export class IngestError extends RecordfsError<
  /** The adapter cannot be used as requested. */
  | "bad-adapter"
  /** An id is duplicated. */
  | "duplicate-id"
  /** The directory already has chunks. */
  | "not-empty"
  /** The ingest to resume is finished. */
  | "nothing-to-resume"
  /** There are no videos. */
  | "no-videos"
  /** The ingest to resume was a different one. */
  | "other-ingest"
  /** The directory has an unfinished ingest. */
  | "unfinished"
  /** A thread died. */
  | "worker-died"
> {}
