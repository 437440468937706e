/**
 * Decodes and encodes videos with the program ffmpeg.
 *
 * @module
 */
export { decodeVideo, type DecodeVideoOptions } from "./decode_video.ts";
export { encodeVideo, type EncodeVideoOptions } from "./encode_video.ts";
export {
  type FrameOptions,
  videoFrames,
  type VideoFramesOptions,
} from "./video_frames.ts";
export type { ProgramOptions } from "./ffmpeg.ts";
export { VideoError, type VideoErrorCode } from "./video_error.ts";
