import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** Subjects of a {@linkcode VideoError}. */
export type VideoErrorCode =
  | "ffmpeg-missing"
  | "ffmpeg-refused"
  | "no-frames"
  | "too-large"
  | "video-failed";

/** A video cannot be decoded or encoded; the message has ffmpeg's own words. */
export class VideoError extends RecordfsError<VideoErrorCode> {
  /** The video. */
  declare readonly path: string;

  /** Makes the error for the video at `path`. */
  constructor(
    code: VideoErrorCode,
    path: string,
    reason: string,
    facts: Omit<ErrorFacts, "path"> = {},
    verb: "decode" | "encode" = "decode",
  ) {
    super(code, `Cannot ${verb} ${path}: ${reason}`, { ...facts, path });
  }
}
