/**
 * Decodes and encodes videos with the program ffmpeg.
 *
 * @module
 */
export { decodeVideo } from "./decode_video.ts";
export { encodeVideo } from "./encode_video.ts";
export { videoFrames } from "./video_frames.ts";
export type { ProgramOptions } from "./ffmpeg.ts";
export { VideoError } from "./video_error.ts";
