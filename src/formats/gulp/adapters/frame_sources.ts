import * as fs from "node:fs";
import {
  imageCodec,
  type ImageCodecName,
} from "../../../codecs/image/choose_codec.ts";
import { videoFrames } from "../../../codecs/video/video_frames.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { inputError } from "./input_error.ts";
import type { AdapterOption } from "./options.ts";

/** Image files above that are refused: no camera makes them, and they are read as a whole. */
const LARGEST_IMAGE = 1 << 30;

/** How images become frames. */
export interface ImageOptions {
  /** Size of the frames' short edge in pixels; below 1, frames keep their size. */
  readonly shortEdge: number;
  /** Whether a JPEG is encoded anew that could be stored as it is. */
  readonly reencode?: boolean | undefined;
  /** What decodes and encodes. */
  readonly codec?: ImageCodecName | "auto" | undefined;
}

/** The options that all adapters of images declare besides their own. */
export const IMAGE_OPTIONS: readonly AdapterOption[] = [
  {
    name: "reencode",
    type: "boolean",
    default: false,
    description: "Encode JPEGs anew that could be stored as they are",
  },
  {
    name: "codec",
    type: "string",
    default: "auto",
    choices: ["auto", "imagescript", "sharp"],
    description: "What decodes and encodes images",
  },
];

/** The JPEG of each image file. */
export async function* imageFrames(
  paths: readonly string[],
  options: ImageOptions,
  { signal }: WaitOptions = {},
): AsyncGenerator<Uint8Array, void> {
  const codec = await imageCodec(options.codec ?? "auto");
  for (const path of paths) {
    signal?.throwIfAborted();
    const bytes = await readImageFile(path);
    yield await codec.jpegFromImageFile(bytes, { ...options, path });
  }
}

async function readImageFile(path: string): Promise<Uint8Array> {
  try {
    const { size } = await fs.promises.stat(path);
    if (size > LARGEST_IMAGE) {
      throw inputError(path, `an image of ${size} bytes is too large`);
    }
    return await fs.promises.readFile(path);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ENOENT") {
      throw inputError(path, "there is no such file", error);
    }
    throw error;
  }
}

/** How a video becomes frames. */
export interface VideoOptions {
  /** Size of the frames' short edge in pixels; below 1, frames keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; 0 or below: all frames. */
  readonly frameRate?: number | undefined;
}

/** The frames of a video file. */
export async function* framesOfVideo(
  path: string,
  { frameSize = -1, frameRate = 0 }: VideoOptions,
  { signal }: WaitOptions = {},
): AsyncGenerator<Uint8Array, void> {
  if (!fs.existsSync(path)) throw inputError(path, "there is no such file");
  yield* videoFrames(path, {
    shortEdge: frameSize,
    frameRate: frameRate > 0 ? frameRate : undefined,
    signal,
  });
}

/** The option that all adapters of videos declare; each has its own default. */
export function frameRateOption(rate: number): AdapterOption {
  return {
    name: "frameRate",
    type: "number",
    default: rate,
    description: "Frames per second; all frames where it is 0 or below",
  };
}

/** The option for the size of frames. */
export function frameSizeOption(name: "frameSize" | "imgSize"): AdapterOption {
  return {
    name,
    type: "integer",
    default: -1,
    description: "Short edge of the frames in pixels; as it is where below 1",
  };
}
