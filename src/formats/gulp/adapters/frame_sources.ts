import * as fs from "node:fs";
import {
  imageCodec,
  type ImageCodecName,
} from "../../../codecs/image/choose_codec.ts";
import { videoFrames } from "../../../codecs/video/video_frames.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { inputError } from "./input_error.ts";
import type { ListedOptions } from "./listed_adapter.ts";
import { type AdapterOption, type Completed, option } from "./options.ts";

/** Largest image file accepted, in bytes: no camera makes larger ones, and files are read whole. */
const LARGEST_IMAGE = 1 << 30;

/** How images become frames. */
export interface ImageOptions {
  /** Whether to re-encode JPEGs that could be stored unchanged. */
  readonly reencode?: boolean | undefined;
  /** Library that decodes and encodes. */
  readonly codec?: ImageCodecName | "auto" | undefined;
}

/** How a video becomes frames. */
export interface VideoOptions {
  /** Short edge of the frames in pixels; below 1 keeps their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; 0 or below takes all. */
  readonly frameRate?: number | undefined;
}

/** Image options with the frame size under either of its names. */
type SizedImageOptions = ImageOptions & {
  readonly frameSize?: number | undefined;
  readonly imgSize?: number | undefined;
};

/** Reads the frames of a file, or of the files of a directory. */
type ReadFrames<Options> = (
  video: { readonly path: string },
  options: Completed<ListedOptions> & Options,
  wait: WaitOptions,
) => AsyncGenerator<Uint8Array, void>;

/** Reads frames from image files: the video's own file, or the files of its directory. */
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

/** Reads frames from a video file: the video's own file, or one in its directory. */
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

/** Reads an image. Regular files are read synchronously: waking up costs more than a read from the page cache. */
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

export function imageOptions(size: "frameSize" | "imgSize"): AdapterOption[] {
  return [
    sizeOption(size),
    option(
      "reencode",
      "boolean",
      false,
      "Re-encode JPEGs even if they could be stored unchanged",
    ),
    option("codec", "string", "auto", "Codec for images", [
      "auto",
      "turbojpeg",
      "sharp",
      "imagescript",
    ]),
  ];
}

/** Declares the options of video adapters, with their default frame rate. */
export function videoOptions(rate: number): AdapterOption[] {
  return [
    sizeOption("frameSize"),
    option(
      "frameRate",
      "number",
      rate,
      "Frames per second; 0 or less means all frames",
    ),
  ];
}

function sizeOption(name: string): AdapterOption {
  return {
    name,
    type: "integer",
    default: -1,
    description:
      "Short edge of the frames in pixels; less than 1 means unchanged",
  };
}
