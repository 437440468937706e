import { concatBytes } from "../../base/bytes_of.ts";
import { JpegScanner } from "../image/jpeg_scanner.ts";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Ffmpeg, type ProgramOptions } from "./ffmpeg.ts";
import { VideoError } from "./video_error.ts";

/**
 * Yields the frames of a video as JPEGs, made by the program ffmpeg, which decodes the video once, scales and encodes.
 * Writes nothing to disk; ffmpeg waits until its frames are consumed. Drops sound and applies rotation. Needs
 * `--allow-run=ffmpeg`.
 *
 * Without `shortEdge`, chroma is subsampled as in the video; scaled frames are not subsampled.
 *
 * @param path The video; a URL must be of kind `file:`.
 * @param options Frame rate, size and quality.
 * @returns The JPEGs, each in its own memory. Leaving the iteration ends ffmpeg.
 * @throws {VideoError} If ffmpeg fails, even after some frames, or there is no frame.
 * @throws {RangeError} If an option is invalid.
 *
 * @example Eight frames a second with a short edge of 256 pixels
 * ```ts ignore
 * import { videoFrames } from "@recordfs/recordfs/video";
 *
 * for await (const jpeg of videoFrames("cat.mp4", { frameRate: 8, shortEdge: 256 })) {
 *   console.log(jpeg.length);
 * }
 * ```
 */
export async function* videoFrames(
  path: string | URL,
  options: Omit<ProgramOptions, "path"> & {
    /** Frames per second, as ffmpeg's `-r`, which drops or repeats frames. All frames at the video's rate by default. */
    readonly frameRate?: number | undefined;
    /** Short edge of the frames, in pixels; below 1 or not given, they keep their size. */
    readonly shortEdge?: number | undefined;
    /** ffmpeg's `-q:v`, 2 (best) to 31; 3 by default. */
    readonly qscale?: number | undefined;
    /** Number of ffmpeg's threads; ffmpeg chooses by default. */
    readonly threads?: number | undefined;
    /** Called with ffmpeg's error messages if it continued anyway, as for a truncated file. */
    readonly onWarning?: ((words: string) => void) | undefined;
  } = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { signal, onWarning, program = "ffmpeg" } = options;
  const file = resolve(path instanceof URL ? fileURLToPath(path) : path);
  await using ffmpeg = new Ffmpeg(
    ffmpegArguments(file, options),
    { program, signal, path: file },
    { verb: "decode" },
  );
  const splitter = new JpegSplitter();
  let frames = 0;
  try {
    for await (const chunk of ffmpeg.output) {
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
      `${program} wrote something other than JPEGs: ${cause.message}`,
      { cause },
    );
  }
  const words = await ffmpeg.end(!splitter.inside);
  if (frames === 0) {
    const reason = words === "" ? "" : `; ${program}: ${words}`;
    throw new VideoError("no-frames", file, `it has no frames${reason}`);
  }
  if (words !== "") onWarning?.(words);
}

/** At least as close to the video as GulpIO2's two generations of JPEG; see `bench/README.md`. */
const DEFAULT_QSCALE = 3;

/** Arguments to write a video's frames as concatenated JPEGs; throws a `RangeError` if an option is invalid. */
function ffmpegArguments(
  path: string,
  options: NonNullable<Parameters<typeof videoFrames>[1]>,
): string[] {
  const { frameRate, shortEdge = 0, threads } = options;
  const { qscale = DEFAULT_QSCALE } = options;
  if (frameRate !== undefined && !(frameRate > 0 && frameRate < Infinity)) {
    throw new RangeError(
      `The frame rate must be a number above 0, not ${frameRate}`,
    );
  }
  assertWhole("The short edge", shortEdge, -Infinity, 65_535);
  assertWhole("A qscale", qscale, 2, 31);
  if (threads !== undefined) {
    assertWhole("The number of threads", threads, 1, 64);
  }
  const limit = threads === undefined ? [] : ["-threads", `${threads}`];
  return [
    ...(threads === undefined ? [] : ["-filter_threads", `${threads}`]),
    ...limit,
    // The file may refer only to files, and the prefix keeps its name from being parsed as a URL.
    ...["-protocol_whitelist", "file", "-i", `file:${path}`],
    ...["-an", "-sn", "-dn"],
    ...(frameRate === undefined ? [] : ["-r", `${frameRate}`]),
    ...(shortEdge < 1 ? [] : ["-vf", scaling(shortEdge)]),
    ...["-c:v", "mjpeg", "-q:v", `${qscale}`, "-flags:v", "+bitexact"],
    ...limit,
    ...["-f", "image2pipe", "pipe:1"],
  ];
}

/**
 * Scales in RGB: scaling subsampled chroma, a quarter of the pixels, costs up to 10 dB. Computes the long edge as
 * `shortEdgeSize`, from the size after rotation.
 */
function scaling(edge: number): string {
  const width = `if(lt(ih,iw),trunc(${edge}*(iw/ih)),${edge})`;
  const height = `if(lt(ih,iw),${edge},trunc(${edge}*(ih/iw)))`;
  return "scale=flags=bicubic,format=gbrp," +
    `scale=w='${width}':h='${height}':flags=bilinear`;
}

function assertWhole(
  what: string,
  value: number,
  from: number,
  to: number,
): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  const least = from === -Infinity ? "up" : `from ${from}`;
  throw new RangeError(
    `${what} must be a whole number ${least} to ${to}, not ${value}`,
  );
}

/** Limit of a frame's size, above any real one: bounds the buffering of an endless stream. */
const MAX_FRAME_BYTES = 2 ** 28;

/** Splits a stream of concatenated JPEGs. */
export class JpegSplitter {
  #scanner = new JpegScanner();
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Whether the stream so far ends within a JPEG. */
  get inside(): boolean {
    return this.#scanner.inside;
  }

  /**
   * Consumes the next bytes, and yields the JPEGs that they complete, each in its own memory.
   *
   * @throws {SyntaxError} If they are not JPEGs.
   */
  *push(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>, void> {
    let rest = chunk;
    while (rest.length > 0) {
      const length = this.#scanner.scan(rest);
      this.#parts.push(rest.subarray(0, length));
      this.#size += length;
      if (this.#size > MAX_FRAME_BYTES) {
        throw new SyntaxError(`a JPEG has more than ${MAX_FRAME_BYTES} bytes`);
      }
      rest = rest.subarray(length);
      if (this.#scanner.ended) yield this.#take();
    }
  }

  #take(): Uint8Array<ArrayBuffer> {
    const jpeg = concatBytes(this.#parts);
    this.#scanner = new JpegScanner();
    this.#parts = [];
    this.#size = 0;
    return jpeg;
  }
}
