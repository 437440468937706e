import type { NdArray } from "../numpy/mod.ts";
import { Ffmpeg, type ProgramOptions, withWorkFile } from "./ffmpeg.ts";

const CODECS = { mp4: "h264", webm: "vp9" } as const;

/**
 * Encodes frames as a video with the program ffmpeg. Needs `--allow-run=ffmpeg`, and `--allow-read` and `--allow-write`
 * for a temporary file.
 *
 * @param frames Array of `uint8` with four dimensions: frames, rows, columns, RGB.
 * @throws {TypeError} If the frames are not such an array.
 * @throws {RangeError} If an option is invalid.
 * @throws {VideoError} If ffmpeg fails, as `h264` does for an odd width or height.
 *
 * @example Ten gray frames
 * ```ts ignore
 * import { encodeVideo } from "@recordfs/recordfs/video";
 *
 * const data = new Uint8Array(10 * 48 * 64 * 3).fill(128);
 * await Deno.writeFile("gray.mp4", await encodeVideo({ dtype: "|u1", shape: [10, 48, 64, 3], data }));
 * ```
 */
export async function encodeVideo(
  frames: NdArray,
  options: ProgramOptions & {
    /** Container format; `mp4` by default. */
    readonly format?: "mp4" | "webm" | undefined;
    /** Frames per second; 20 by default, as in granular. */
    readonly fps?: number | undefined;
    /** Name of ffmpeg's encoder; by default `h264` for mp4 and `vp9` for WebM, as in granular. */
    readonly codec?: string | undefined;
  } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const data = framesOf(frames);
  const [, height, width] = frames.shape;
  const args = encodingArguments(`${width}x${height}`, options);
  return await withWorkFile(async (file) => {
    await using ffmpeg = new Ffmpeg([...args, `file:${file}`], options, {
      verb: "encode",
      input: data,
    });
    await ffmpeg.output.pipeTo(new WritableStream());
    await ffmpeg.end();
    return await Deno.readFile(file);
  });
}

function encodingArguments(
  size: string,
  { format = "mp4", fps = 20, codec = CODECS[format] }: NonNullable<
    Parameters<typeof encodeVideo>[1]
  >,
): string[] {
  if (!(fps > 0 && fps < Infinity)) {
    throw new RangeError(
      `The frame rate must be a number above 0, not ${fps} frames per ` +
        "second",
    );
  }
  if (!Object.hasOwn(CODECS, format)) {
    throw new RangeError(
      `The format of a video must be mp4 or webm, not '${format}'`,
    );
  }
  if (!/^[a-zA-Z0-9][\w-]*$/.test(codec)) {
    throw new RangeError(
      `The codec '${codec}' is unknown: see ffmpeg -encoders`,
    );
  }
  return [
    ...["-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", size],
    ...["-framerate", `${fps}`, "-i", "pipe:0"],
    ...["-c:v", codec, "-pix_fmt", "yuv420p", "-f", format],
  ];
}

function framesOf({ dtype, shape, data }: NdArray): Uint8Array {
  const [count = 0, height = 0, width = 0, channels] = shape;
  const isVideo = dtype === "|u1" && data instanceof Uint8Array &&
    shape.length === 4 && channels === 3 && count * height * width > 0 &&
    data.length === count * height * width * 3;
  if (isVideo) return data;
  throw new TypeError(
    "A video must be uint8 of frames × rows × columns × 3, not an array of " +
      `'${dtype}' (${shape.join(", ")}) with ${data.length} elements`,
  );
}
