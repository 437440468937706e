import { concatBytes } from "../../base/bytes_of.ts";
import type { NdArray } from "../numpy/mod.ts";
import { VideoError } from "./video_error.ts";
import { Ffmpeg, type ProgramOptions, withWorkFile } from "./ffmpeg.ts";

/**
 * Decodes a video in memory with the program ffmpeg: every frame once, without rotation, as PyAV decodes them. The
 * video may be mp4, WebM or a related format; other formats of ffmpeg, such as lists that refer to other files, are
 * rejected. Needs `--allow-run=ffmpeg`, and `--allow-read` and `--allow-write` for a temporary file.
 *
 * @returns Array of `uint8` with four dimensions: frames, rows, columns, RGB.
 * @throws {VideoError} If ffmpeg fails or reports an error, such as a truncated video, if there is no frame, or if
 * there are too many pixels.
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
  options: ProgramOptions & {
    /** Limit of the decoded pixels in bytes; 2^30 by default. */
    readonly maxBytes?: number | undefined;
  } = {},
): Promise<NdArray & { readonly data: Uint8Array<ArrayBuffer> }> {
  const { path = "the video", maxBytes = 2 ** 30 } = options;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const words = await withWorkFile(async (file) => {
    await Deno.writeFile(file, bytes);
    await using ffmpeg = new Ffmpeg(decodingArguments(file), options, {
      verb: "decode",
    });
    for await (const chunk of ffmpeg.output) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) continue;
      throw new VideoError(
        "too-large",
        path,
        `its frames take more than ${maxBytes} bytes. Raise maxBytes, or ` +
          "take frame by frame with videoFrames",
      );
    }
    return await ffmpeg.end();
  });
  if (words !== "") {
    const { program = "ffmpeg" } = options;
    throw new VideoError("video-failed", path, `${program}: ${words}`);
  }
  if (size === 0) throw new VideoError("no-frames", path, "it has no frames");
  const frames = withoutHeads(concatBytes(chunks));
  if (frames !== undefined) return frames;
  throw new VideoError(
    "video-failed",
    path,
    "ffmpeg wrote something other than pictures of one size",
  );
}

function decodingArguments(file: string): string[] {
  return [
    ...["-protocol_whitelist", "file"],
    // Two demuxers, by the names in `ffmpeg -demuxers`.
    ...["-format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm"],
    ...["-noautorotate", "-i", `file:${file}`],
    ...["-map", "0:v:0", "-fps_mode", "passthrough"],
    ...["-c:v", "ppm", "-pix_fmt", "rgb24", "-f", "image2pipe", "pipe:1"],
  ];
}

/** Header of each picture (netpbm's PPM): width, height, maximum value. */
const HEAD = /^P6\n(\d{1,9}) (\d{1,9})\n255\n/;

const LONGEST_HEAD = 32;

/** Joins PPM pictures of one size into an array, dropping headers in place; `undefined` for anything else. */
function withoutHeads(
  stream: Uint8Array<ArrayBuffer>,
): NdArray & { readonly data: Uint8Array<ArrayBuffer> } | undefined {
  const start = stream.subarray(0, LONGEST_HEAD);
  const head = HEAD.exec(new TextDecoder("latin1").decode(start));
  if (head === null) return undefined;
  const [width, height] = [Number(head[1]), Number(head[2])];
  const pixels = width * height * 3;
  const step = head[0].length + pixels;
  const count = stream.length / step;
  if (!Number.isInteger(count)) return undefined;
  for (let i = 0; i < count; i++) {
    const from = i * step + head[0].length;
    stream.copyWithin(i * pixels, from, from + pixels);
  }
  const data = stream.subarray(0, count * pixels);
  return { dtype: "|u1", shape: [count, height, width, 3], data };
}
