import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** A video cannot be decoded or encoded; the message quotes ffmpeg. */
export class VideoError extends RecordfsError<
  | "ffmpeg-missing"
  | "ffmpeg-refused"
  | "no-frames"
  | "too-large"
  | "video-failed"
> {
  /** Path or name of the video. */
  declare readonly path: string;

  /** Creates an error about the video at `path`. */
  constructor(
    code: VideoError["code"],
    path: string,
    reason: string,
    facts: Omit<ErrorFacts, "path"> = {},
    verb: "decode" | "encode" = "decode",
  ) {
    super(code, `Cannot ${verb} ${path}: ${reason}`, { ...facts, path });
  }
}
