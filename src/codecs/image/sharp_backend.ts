import {
  type AlphaImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
} from "./image.ts";
import type { Eighths, ImageBackend } from "./image_backend.ts";
import { PACKAGES } from "../../base/packages.ts";
import { ImageError } from "./image_error.ts";
import { type ImageHeader, MAX_PIXELS } from "./image_header.ts";
import { imageSource, type PixelSource } from "./pixels/render.ts";
import type { Size } from "./short_edge.ts";

type Sharp = typeof import("sharp");
export type SharpFactory = Sharp["default"];
export type Pipeline = ReturnType<SharpFactory>;

/** @throws If the platform has no build of sharp, or a permission is missing. */
export async function loadSharp(): Promise<SharpFactory> {
  const sharp: Sharp = await import(PACKAGES.sharp);
  return sharp.default;
}

/** npm's sharp (libvips): native code, which needs `--allow-ffi`, `--allow-env` and `--allow-read`. */
export class SharpBackend implements ImageBackend {
  readonly name = "sharp";
  readonly #sharp: SharpFactory;

  private constructor(sharp: SharpFactory) {
    this.#sharp = sharp;
  }

  /** @throws If the platform has no build of sharp, or a permission is missing. */
  static async load(): Promise<SharpBackend> {
    return new SharpBackend(await loadSharp());
  }

  async pixels(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): Promise<PixelSource> {
    const { channels, isCmyk } = header;
    const space = isCmyk ? "cmyk" : "srgb";
    const opened = this.#open(bytes).removeAlpha();
    const height = Math.ceil(header.height * eighths / 8);
    const width = Math.ceil(header.width * eighths / 8);
    // libjpeg shrinks while decoding; setting a pipeline's colour space makes it decode in full first.
    const pipeline = eighths === 8
      ? opened.pipelineColourspace(space)
      : opened.resize({ height, width, fit: "fill", kernel: "linear" });
    const pixels = await this.#pixels(
      pipeline.toColourspace(space),
      { height, width },
      isCmyk ? 4 : 3,
      path,
    );
    const data = isCmyk ? cmykToRgb(pixels) : pixels;
    const source = imageSource({ data, height, width, channels: 3 });
    return { ...source, channels, fraction: eighths / 8 };
  }

  async decodeAlpha(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): Promise<AlphaImage> {
    const pipeline = this.#open(bytes).toColourspace("srgb");
    const { height, width } = header;
    const channels = header.channels === 1 ? 2 : 4;
    const rgba = await this.#pixels(pipeline, header, 4, path);
    return { data: rgbaToChannels(rgba, channels), height, width, channels };
  }

  encode(
    { data, height, width, channels }: Image,
    quality: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const opened = this.#sharp(data, { raw: { height, width, channels } });
    return output(
      opened.toColourspace(channels === 1 ? "b-w" : "srgb")
        .jpeg({ quality, chromaSubsampling: "4:4:4" }),
    );
  }

  #open(bytes: Uint8Array): Pipeline {
    return this.#sharp(bytes, {
      failOn: "warning",
      ignoreIcc: true,
      limitInputPixels: MAX_PIXELS,
    });
  }

  async #pixels(
    pipeline: Pipeline,
    { height, width }: Size,
    channels: 3 | 4,
    path?: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const data = await output(pipeline.raw({ depth: "uchar" }), path);
    if (data.length === height * width * channels) return data;
    throw new ImageError(
      "bad-image",
      `its header says ${width} × ${height} pixels, ` +
        `sharp decoded ${data.length} bytes of them`,
      { path },
    );
  }
}

/** Runs a pipeline and returns its output without copying. */
export async function bytesOf(
  pipeline: Pipeline,
): Promise<Uint8Array<ArrayBuffer>> {
  const { buffer, byteOffset, byteLength } = await pipeline.toBuffer();
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

async function output(
  pipeline: Pipeline,
  path?: string,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await bytesOf(pipeline);
  } catch (cause) {
    throw new ImageError("bad-image", `sharp: ${(cause as Error).message}`, {
      path,
      cause,
    });
  }
}
