import { RecordfsError } from "../../../errors.ts";

/** What an {@linkcode IngestError} can be about. */
export type IngestErrorCode =
  /** The adapter cannot be used as asked. */
  | "bad-adapter"
  /** An id is there twice. */
  | "duplicate-id"
  /** The directory has chunks already. */
  | "not-empty"
  /** The ingest to be resumed is finished. */
  | "nothing-to-resume"
  /** There are no videos. */
  | "no-videos"
  /** The ingest to be resumed was another one. */
  | "other-ingest"
  /** An ingest was begun in the directory and not finished. */
  | "unfinished"
  /** A thread died. */
  | "worker-died";

/** An ingest cannot be done as asked. */
export class IngestError extends RecordfsError<IngestErrorCode> {}
