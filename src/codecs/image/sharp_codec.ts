import {
  type AlphaImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
  toColorspace,
} from "./image.ts";
import { ImageError } from "./image_error.ts";
import { type ImageHeader, MAX_PIXELS } from "./image_header.ts";
import { type EncodedImage, PixelCodec } from "./pixel_codec.ts";
import { resample } from "./resample.ts";
import type { Size } from "./short_edge.ts";

type Sharp = typeof import("sharp");
type SharpFactory = Sharp["default"];
type Pipeline = ReturnType<SharpFactory>;

/** By a variable: Deno fetches a package whose name stands in an import before any program starts. */
const PACKAGE: string = "sharp";

/**
 * Images through npm's sharp, which is libvips: native code, so it needs `--allow-ffi`,
 * `--allow-env` and `--allow-read`.
 */
export class SharpCodec extends PixelCodec {
  override readonly name = "sharp";
  readonly #sharp: SharpFactory;

  private constructor(sharp: SharpFactory) {
    super();
    this.#sharp = sharp;
  }

  /**
   * Loads the package.
   *
   * @throws If it is not there for this platform, or a permission is missing.
   */
  static async load(): Promise<SharpCodec> {
    const sharp: Sharp = await import(PACKAGE);
    return new SharpCodec(sharp.default);
  }

  protected override async pixels(
    { bytes, header, path }: EncodedImage,
    size: Size,
    channels: AlphaImage["channels"],
  ): Promise<AlphaImage> {
    const opened = this.#open(bytes);
    const { height, width } = size;
    if (channels === 2 || channels === 4) {
      const pipeline = opened.toColourspace("srgb");
      const rgba = await this.#output(pipeline, size, 4, path);
      return { data: rgbaToChannels(rgba, channels), height, width, channels };
    }
    const space = header.isCmyk ? "cmyk" : "srgb";
    const isResized = height !== header.height || width !== header.width;
    const pixels = await this.#output(
      // With a colour space of its own, a pipeline decodes JPEGs in full before it shrinks them.
      (isResized
        ? resize(opened.removeAlpha(), size)
        : opened.removeAlpha().pipelineColourspace(space))
        .toColourspace(space),
      size,
      header.isCmyk ? 4 : 3,
      path,
    );
    const data = header.isCmyk ? cmykToRgb(pixels) : pixels;
    const image: Image = { data, height, width, channels: 3 };
    return toColorspace(image, channels === 1 ? "GRAY" : "RGB");
  }

  protected override jpeg(
    image: Image,
    quality: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const pipeline = this.#fromPixels(image);
    return output(toJpeg(pipeline, image.channels, quality));
  }

  protected override async resize(image: Image, size: Size): Promise<Image> {
    const { height, width, channels } = image;
    const isAlike = size.height === height && size.width === width;
    if (isAlike || isLarger(size, image)) return resample(image, size);
    const data = await this.#output(
      resize(this.#fromPixels(image), size).toColourspace("srgb"),
      size,
      3,
    );
    return toColorspace(
      { data, ...size, channels: 3 },
      channels === 1 ? "GRAY" : "RGB",
    );
  }

  protected override async jpegOf(
    file: EncodedImage,
    size: Size,
    quality: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { bytes, header, path } = file;
    if (!this.resizesAlike(header, size)) {
      return await super.jpegOf(file, size, quality);
    }
    const pipeline = resize(this.#open(bytes).removeAlpha(), size);
    return await output(toJpeg(pipeline, header.channels, quality), path);
  }

  /**
   * Whether a pipeline that opens, resizes and drops alpha does what doing so one after the other does:
   * where there is an alpha channel, libvips weighs colours by it.
   */
  protected override resizesAlike(header: ImageHeader, size: Size): boolean {
    return !header.isCmyk && !header.hasAlpha && !isLarger(size, header);
  }

  #open(bytes: Uint8Array): Pipeline {
    return this.#sharp(bytes, {
      failOn: "warning",
      ignoreIcc: true,
      limitInputPixels: MAX_PIXELS,
    });
  }

  #fromPixels({ data, height, width, channels }: Image): Pipeline {
    return this.#sharp(data, { raw: { height, width, channels } });
  }

  async #output(
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

/** libvips enlarges half a pixel off: its pixels meet at corners, ours at centres. */
function isLarger(a: Size, b: Size): boolean {
  return a.height > b.height || a.width > b.width;
}

function resize(pipeline: Pipeline, { height, width }: Size): Pipeline {
  return pipeline.resize({
    height,
    width,
    fit: "fill",
    kernel: "linear",
  });
}

function toJpeg(
  pipeline: Pipeline,
  channels: ImageHeader["channels"],
  quality: number,
): Pipeline {
  return pipeline.toColourspace(channels === 1 ? "b-w" : "srgb")
    .jpeg({ quality, chromaSubsampling: "4:4:4" });
}

async function output(
  pipeline: Pipeline,
  path?: string,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const buffer = await pipeline.toBuffer();
    return new Uint8Array(
      buffer.buffer as ArrayBuffer,
      buffer.byteOffset,
      buffer.byteLength,
    );
  } catch (cause) {
    throw new ImageError("bad-image", `sharp: ${(cause as Error).message}`, {
      path,
      cause,
    });
  }
}
