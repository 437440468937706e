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
import { avifHeader } from "./headers/avif_header.ts";
import { viewOf } from "../../base/view_of.ts";
import { gifHeader, onScreen } from "./headers/gif_header.ts";
import { imageSource, type PixelSource } from "./pixels/render.ts";
import type { Size } from "./short_edge.ts";
import { sniffedSuffix } from "../values/sniffed_suffix.ts";

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
    const { channels, format, isCmyk } = header;
    if (format === "gif") {
      const rgba = await this.#gifPixels(bytes, header, path);
      const data = rgbaToChannels(rgba, channels);
      return imageSource({ data, ...sizeOf(header), channels });
    }
    const space = isCmyk ? "cmyk" : "srgb";
    const opened = this.#open(bytes, header).removeAlpha();
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
    const channels = header.channels === 1 ? 2 : 4;
    const rgba = header.format === "gif"
      ? await this.#gifPixels(bytes, header, path)
      : await this.#rgba(bytes, header, path);
    const data = rgbaToChannels(rgba, channels);
    return { data, ...sizeOf(header), channels };
  }

  #rgba(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const pipeline = this.#open(bytes, header).toColourspace("srgb");
    return this.#pixels(pipeline.ensureAlpha(), header, 4, path);
  }

  async #gifPixels(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const pipeline = this.#open(bytes, header).toColourspace("srgb");
    const drawn = await rawPixels(pipeline.ensureAlpha(), path);
    return onScreen(drawn, gifHeader(viewOf(bytes))!);
  }

  async encode(
    { data, height, width, channels }: Image,
    quality: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const opened = this.#sharp(data, { raw: { height, width, channels } });
    const encoded = opened.toColourspace(channels === 1 ? "b-w" : "srgb")
      .jpeg({ quality, chromaSubsampling: "4:4:4" });
    try {
      return await bytesOf(encoded);
    } catch (cause) {
      throw badImage(cause);
    }
  }

  #open(bytes: Uint8Array, { format }: ImageHeader): Pipeline {
    const opened = this.#sharp(withKnownBrand(bytes), {
      failOn: "warning",
      ignoreIcc: true,
      limitInputPixels: MAX_PIXELS,
    });
    if (format !== "avif") return opened;
    // libheif turns and mirrors, as no other decoder does; sharp mirrors before it turns.
    const { turns, mirror } = avifHeader(viewOf(bytes))!;
    return opened.flip(mirror === "top-bottom").flop(mirror === "left-right")
      .rotate(turns * 90);
  }

  async #pixels(
    pipeline: Pipeline,
    { height, width }: Size,
    channels: 3 | 4,
    path?: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { data, ...decoded } = await rawPixels(pipeline, path);
    const isWhole = decoded.height === height && decoded.width === width &&
      data.length === height * width * channels;
    if (isWhole) return data;
    throw new ImageError(
      "bad-image",
      `its header says ${width} × ${height} pixels, sharp decoded ` +
        `${decoded.width} × ${decoded.height} (${data.length} bytes)`,
      { path },
    );
  }
}

/** Decodes an image to one byte per channel. */
async function rawPixels(
  pipeline: Pipeline,
  path: string | undefined,
): Promise<Size & { readonly data: Uint8Array<ArrayBuffer> }> {
  const raw = pipeline.raw({ depth: "uchar" });
  try {
    const { data, info } = await raw.toBuffer({ resolveWithObject: true });
    const { height, width } = info;
    return { data: unwrapped(data), height, width };
  } catch (cause) {
    throw badImage(cause, path);
  }
}

/** Runs a pipeline and returns its output without copying. */
export async function bytesOf(
  pipeline: Pipeline,
): Promise<Uint8Array<ArrayBuffer>> {
  return unwrapped(await pipeline.toBuffer());
}

function unwrapped(
  { buffer, byteOffset, byteLength }: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

function badImage(cause: unknown, path?: string): ImageError {
  const reason = `sharp: ${firstReason(cause)}`;
  return new ImageError("bad-image", reason, { path, cause });
}

/** Returns the first line of libvips's message about an image; libheif seeks beyond the end of small files. */
export function firstReason(error: unknown): string {
  const lines = (error as Error).message.split("\n");
  return lines.find((line) => !/bad seek to \d+$/.test(line)) ?? lines[0]!;
}

/** Returns a picture with a brand that libvips knows: a sequence of AVIF has a first frame like other AVIFs. */
export function withKnownBrand(bytes: Uint8Array): Uint8Array {
  const isSequence = bytes.length > 12 && bytes[11] === 0x73 &&
    sniffedSuffix(bytes) === ".avif";
  if (!isSequence) return bytes;
  const known = bytes.slice();
  known[11] = 0x66; // `avis` becomes `avif`
  return known;
}

function sizeOf({ height, width }: Size): Size {
  return { height, width };
}
