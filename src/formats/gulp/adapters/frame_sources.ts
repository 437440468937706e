import * as fs from "node:fs";
import {
  imageCodec,
  type ImageCodecName,
} from "../../../codecs/image/choose_codec.ts";
import { videoFrames } from "../../../codecs/video/video_frames.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { inputError } from "./input_error.ts";
import { type AdapterOption, option } from "./options.ts";

/** Image files above that are refused: no camera makes them, and they are read as a whole. */
const LARGEST_IMAGE = 1 << 30;

/** How images become frames. */
export interface ImageOptions {
  /** Whether a JPEG is encoded anew that could be stored as it is. */
  readonly reencode?: boolean | undefined;
  /** What decodes and encodes. */
  readonly codec?: ImageCodecName | "auto" | undefined;
}

/** How a video becomes frames. */
export interface VideoOptions {
  /** Size of the frames' short edge in pixels; they keep their size unless it is 1 or above. */
  readonly frameSize?: number | undefined;
  /** Frames per second; all where it is 0 or below. */
  readonly frameRate?: number | undefined;
}

/** A video's file, or the directory that its files are in. */
export interface FrameFile {
  /** Where it is. */
  readonly path: string;
}

/** Image options with the size of frames, by the names that it has. */
type SizedImageOptions = ImageOptions & {
  readonly frameSize?: number | undefined;
  readonly imgSize?: number | undefined;
};

/** Reads the frames of a video, for a table of data sets. */
type ReadFrames<Options> = (
  video: FrameFile,
  options: Options,
  wait: WaitOptions,
) => AsyncGenerator<Uint8Array, void>;

/** Reads frames that are image files: that of a video, or those that lie in its directory. */
export function imageFrames(
  filesOf: (path: string) => string[] = (path) => [path],
): ReadFrames<SizedImageOptions> {
  return async function* (
    { path: place },
    { imgSize, frameSize, reencode, codec: name },
    { signal },
  ) {
    const paths = filesOf(place);
    const codec = await imageCodec(name);
    const shortEdge = imgSize ?? frameSize ?? -1;
    for (const path of paths) {
      signal?.throwIfAborted();
      const bytes = await readImageFile(path);
      yield await codec.jpegFromImageFile(bytes, { shortEdge, reencode, path });
    }
  };
}

/** Reads the frames of a video file: that of a video, or one that lies in its directory. */
export function fileFrames(
  fileOf = (path: string): string => path,
): ReadFrames<VideoOptions> {
  return async function* (
    { path: place },
    { frameSize = -1, frameRate = 0 },
    { signal },
  ) {
    const path = fileOf(place);
    assertThere(path);
    yield* videoFrames(path, {
      shortEdge: frameSize,
      frameRate: frameRate > 0 ? frameRate : undefined,
      signal,
    });
  };
}

/** Reads an image: without waiting where it can, since being woken up again costs more than reading from the cache. */
async function readImageFile(path: string): Promise<Uint8Array> {
  assertThere(path);
  const found = fs.statSync(path);
  if (found.size > LARGEST_IMAGE) {
    const what = `an image of ${found.size} bytes is too large`;
    throw inputError(path, what);
  }
  return found.isFile()
    ? fs.readFileSync(path)
    : await fs.promises.readFile(path);
}

function assertThere(path: string): void {
  if (!fs.existsSync(path)) throw inputError(path, "there is no such file");
}

/** The options of adapters of images. */
export function imageOptions(size: "frameSize" | "imgSize"): AdapterOption[] {
  return [
    sizeOption(size),
    option(
      "reencode",
      "boolean",
      false,
      "Encode JPEGs anew that could be stored as they are",
    ),
    option("codec", "string", "auto", "What decodes and encodes images", [
      "auto",
      "turbojpeg",
      "sharp",
      "imagescript",
    ]),
  ];
}

/** The options of adapters of videos; each has its own rate. */
export function videoOptions(rate: number): AdapterOption[] {
  return [
    sizeOption("frameSize"),
    option(
      "frameRate",
      "number",
      rate,
      "Frames per second; all frames where it is 0 or below",
    ),
  ];
}

function sizeOption(name: string): AdapterOption {
  return {
    name,
    type: "integer",
    default: -1,
    description: "Short edge of the frames in pixels; as it is where below 1",
  };
}
