/**
 * Frames of videos, through the program ffmpeg.
 *
 * @module
 */
export type { FrameOptions } from "./ffmpeg_arguments.ts";
export { VideoError, type VideoErrorCode } from "./video_error.ts";
export { videoFrames, type VideoFramesOptions } from "./video_frames.ts";
export { type ErrorFacts, RecordfsError } from "../../errors.ts";
