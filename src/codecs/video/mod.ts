/**
 * Frames of videos, and videos of frames, through the program ffmpeg.
 *
 * @module
 */
export { decodeVideo, type DecodeVideoOptions } from "./decode_video.ts";
export { encodeVideo, type EncodeVideoOptions } from "./encode_video.ts";
export type { FrameOptions } from "./ffmpeg_arguments.ts";
export type { ProgramOptions } from "./run_ffmpeg.ts";
export { VideoError, type VideoErrorCode } from "./video_error.ts";
export { videoFrames, type VideoFramesOptions } from "./video_frames.ts";
export type { NdArray, NumericArray } from "../numpy/mod.ts";
export { type ErrorFacts, RecordfsError } from "../../errors.ts";
