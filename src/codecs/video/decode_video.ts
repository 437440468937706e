import type { NdArray } from "../numpy/mod.ts";
import { PpmFrames } from "./ppm_frames.ts";
import { type ProgramOptions, runFfmpeg } from "./run_ffmpeg.ts";
import { withWorkDirectory } from "./video_files.ts";
import { VideoError } from "./video_error.ts";

/** Options of {@linkcode decodeVideo}. */
export interface DecodeVideoOptions extends ProgramOptions {
  /** Bytes of pixels above which a video is refused; 2^30 unless given. */
  readonly maxBytes?: number | undefined;
}

/**
 * The frames of a video in memory, by the program ffmpeg: every frame once, without rotation, as
 * PyAV decodes them. The video may be mp4 or WebM and their kin; what else ffmpeg knows, such as lists that refer
 * to other files, is refused. Needs `--allow-run=ffmpeg`, and `--allow-read` and `--allow-write` for
 * a temporary file.
 *
 * @returns Frames, rows, columns, RGB: an array of `uint8` with four dimensions.
 * @throws {VideoError} If ffmpeg fails or complains, as of a video cut off, there is no frame, or
 * its pixels are too many.
 *
 * @example The number and size of frames
 * ```ts ignore
 * import { decodeVideo } from "@recordfs/recordfs/video";
 *
 * const { shape } = await decodeVideo(await Deno.readFile("cat.mp4"));
 * console.log(shape); // [250, 240, 320, 3]
 * ```
 */
export async function decodeVideo(
  bytes: Uint8Array,
  options: DecodeVideoOptions = {},
): Promise<NdArray & { readonly data: Uint8Array<ArrayBuffer> }> {
  const { path = "the video", maxBytes = 2 ** 30 } = options;
  const frames = new PpmFrames(path, maxBytes);
  const words = await withWorkDirectory(async (dir) => {
    const file = `${dir}/video`;
    await Deno.writeFile(file, bytes);
    return await runFfmpeg(decodingArguments(file), options, {
      take: (chunk) => frames.push(chunk),
      verb: "decode",
    });
  });
  if (words !== "") {
    const { program = "ffmpeg" } = options;
    throw new VideoError("video-failed", path, `${program}: ${words}`);
  }
  return frames.take();
}

function decodingArguments(file: string): string[] {
  return [
    ...["-nostdin", "-hide_banner", "-nostats", "-loglevel", "error"],
    ...["-protocol_whitelist", "file"],
    // The names of two readers of files, as `ffmpeg -demuxers` has them.
    ...["-format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm"],
    ...["-noautorotate", "-i", `file:${file}`],
    ...["-map", "0:v:0", "-fps_mode", "passthrough"],
    ...["-c:v", "ppm", "-pix_fmt", "rgb24", "-f", "image2pipe", "pipe:1"],
  ];
}
