import type { FailedVideo } from "../write/chunk_writer.ts";
import { RecordfsError } from "../../../base/errors.ts";

/** Progress of an ingest. */
export interface IngestProgress {
  /** Videos written so far. */
  readonly videos: number;
  /** Videos that have failed so far. */
  readonly failed: number;
  /** All videos; a resumed ingest counts those done earlier from the start. */
  readonly totalVideos: number;
  /** Frames that this run has written so far. */
  readonly frames: number;
  /** Bytes of JPEG that this run has written so far. */
  readonly bytes: number;
}

/** Result of an ingest. */
export interface IngestReport {
  /** Paths of the data files, in chunk order. */
  readonly paths: readonly string[];
  /** Number of videos. */
  readonly videos: number;
  /** Number of frames. */
  readonly frames: number;
  /** Size of the data files in bytes. */
  readonly bytes: number;
  /** Videos that failed, in adapter order. */
  readonly failed: readonly FailedVideo[];
}

/** Options of {@linkcode GulpIngestor.run}. */
export interface IngestOptions {
  /** Whether chunks may be added to a directory that has some. */
  readonly extend?: boolean | undefined;
  /**
   * Whether to continue a killed ingest, or retry the failed videos of one that ended; starts a new one if there is
   * none.
   */
  readonly resume?: boolean | undefined;
  /** Called with the progress after each frame. */
  readonly onProgress?: ((progress: IngestProgress) => void) | undefined;
  /** Called with each video when it fails. */
  readonly onFailure?: ((failed: FailedVideo) => void) | undefined;
  /** Aborts the ingest; complete chunks stay, and it can be resumed. */
  readonly signal?: AbortSignal | undefined;
}

/** Cause of an {@linkcode IngestError}. */
export type IngestErrorCode =
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
  | "worker-died";

/** An ingest cannot be done as requested. */
export class IngestError extends RecordfsError<IngestErrorCode> {}
