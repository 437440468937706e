import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { boundedText } from "./bounded_text.ts";
import { ffmpegArguments, type FrameOptions } from "./ffmpeg_arguments.ts";
import { JpegSplitter } from "./jpeg_splitter.ts";
import { endNow, startFfmpeg } from "./start_ffmpeg.ts";
import { VideoError } from "./video_error.ts";

/** Options of {@linkcode videoFrames}. */
export interface VideoFramesOptions extends FrameOptions {
  /** The program; `ffmpeg` from the `PATH` unless given. */
  readonly program?: string | undefined;
  /** Ends ffmpeg; the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Gets what ffmpeg complained of where it went on all the same, as with a file cut off. */
  readonly onWarning?: ((words: string) => void) | undefined;
}

/**
 * The frames of a video as JPEGs, by the program ffmpeg, which decodes the video once, scales and
 * encodes; nothing is written to disk. ffmpeg waits where its frames are not taken. Sound is left
 * out, rotation is applied. Needs `--allow-run=ffmpeg`.
 *
 * Without `shortEdge` the colour is subsampled as in the video; scaled frames are not subsampled.
 *
 * @param path The video; not a URL of another kind than `file:`.
 * @param options Frame rate, size and quality.
 * @returns The JPEGs, each in memory of its own. Leaving the iteration ends ffmpeg.
 * @throws {VideoError} If ffmpeg fails, also after some frames, or there is no frame.
 * @throws {RangeError} If an option has no meaning.
 *
 * @example Eight frames a second with a short edge of 256 pixels
 * ```ts ignore
 * import { videoFrames } from "@recordfs/recordfs";
 *
 * for await (const jpeg of videoFrames("cat.mp4", { frameRate: 8, shortEdge: 256 })) {
 *   console.log(jpeg.length);
 * }
 * ```
 */
export async function* videoFrames(
  path: string | URL,
  options: VideoFramesOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { signal, onWarning, program = "ffmpeg" } = options;
  const file = resolve(path instanceof URL ? fileURLToPath(path) : path);
  const args = ffmpegArguments(file, options);
  signal?.throwIfAborted();
  const child = startFfmpeg(program, args, file, "null");
  const complaints = boundedText(child.stderr);
  const kill = () => endNow(child);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const splitter = new JpegSplitter();
    let frames = 0;
    try {
      for await (const chunk of child.stdout) {
        for (const jpeg of splitter.push(chunk)) {
          frames++;
          yield jpeg;
          signal?.throwIfAborted();
        }
      }
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new VideoError(
        "video-failed",
        file,
        `${program} wrote something else than JPEGs: ${cause.message}`,
        { cause },
      );
    }
    const status = await child.status;
    signal?.throwIfAborted();
    const words = await complaints;
    if (!status.success || splitter.inside) {
      const end = status.signal ?? `code ${status.code}`;
      throw new VideoError(
        "video-failed",
        file,
        words === "" ? `${program} ended with ${end}` : `${program}: ${words}`,
      );
    }
    if (frames === 0) {
      const reason = words === "" ? "" : `; ${program}: ${words}`;
      throw new VideoError("no-frames", file, `it has no frames${reason}`);
    }
    if (words !== "") onWarning?.(words);
  } finally {
    signal?.removeEventListener("abort", kill);
    kill();
    await Promise.allSettled([child.status, complaints]);
  }
}
