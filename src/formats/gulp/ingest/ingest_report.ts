import type { FailedVideo } from "../write/chunk_writer.ts";
import { RecordfsError } from "../../../base/errors.ts";

/** How far an ingest is. */
export interface IngestProgress {
  /** Videos that were written by now. */
  readonly videos: number;
  /** Videos that could not be gulped by now. */
  readonly failed: number;
  /** All videos there are; those that a resumed ingest had done before are counted from the start. */
  readonly totalVideos: number;
  /** Frames that this run has written by now. */
  readonly frames: number;
  /** Bytes of JPEG that this run has written by now. */
  readonly bytes: number;
}

/** What an ingest has written. */
export interface IngestReport {
  /** The data files, in the order of their chunks. */
  readonly paths: readonly string[];
  /** How many videos. */
  readonly videos: number;
  /** How many frames they have. */
  readonly frames: number;
  /** Size of the data files in bytes. */
  readonly bytes: number;
  /** Videos that could not be gulped, in the order of the adapter. */
  readonly failed: readonly FailedVideo[];
}

/** Options of {@linkcode GulpIngestor.run}. */
export interface IngestOptions {
  /** Whether chunks may be added to a directory that has some. */
  readonly extend?: boolean | undefined;
  /**
   * Whether to continue an ingest that was killed; where there is none, one is started, and where it
   * had come to its end, the videos that failed are tried again.
   */
  readonly resume?: boolean | undefined;
  /** Told how far it is, after each frame. */
  readonly onProgress?: ((progress: IngestProgress) => void) | undefined;
  /** Told of each video that cannot be gulped, when it fails. */
  readonly onFailure?: ((failed: FailedVideo) => void) | undefined;
  /** Ends the ingest; the chunks that are complete stay, and it can be resumed. */
  readonly signal?: AbortSignal | undefined;
}

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
