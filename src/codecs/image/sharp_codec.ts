import {
  type AlphaImage,
  assertImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
  toColorspace,
} from "./image.ts";
import {
  assertQuality,
  type DecodeOptions,
  DEFAULT_QUALITY,
  type ImageCodec,
  type JpegOptions,
} from "./image_codec.ts";
import { decodedBytes, inDecodeMemory } from "./decode_memory.ts";
import { ImageError } from "./image_error.ts";
import {
  type ImageHeader,
  MAX_PIXELS,
  readImageHeader,
} from "./image_header.ts";
import { resample } from "./resample.ts";
import { assertJpegSize, shortEdgeSize, type Size } from "./short_edge.ts";
import { unchangedJpeg } from "./jpeg_scanner.ts";

type Sharp = typeof import("sharp");
type SharpFactory = Sharp["default"];
type Pipeline = ReturnType<SharpFactory>;

/** By a variable: Deno fetches a package whose name stands in an import before any program starts. */
const PACKAGE: string = "sharp";

/**
 * Images through npm's sharp, which is libvips: native code, so it needs `--allow-ffi`,
 * `--allow-env` and `--allow-read`.
 */
export class SharpCodec implements ImageCodec {
  readonly name = "sharp";
  readonly #sharp: SharpFactory;

  private constructor(sharp: SharpFactory) {
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

  async decode(
    bytes: Uint8Array,
    { colorspace = "ANY", shortEdge = 0, path }: DecodeOptions = {},
  ): Promise<Image> {
    const header = readImageHeader(bytes, path);
    const { channels, isCmyk } = header;
    const wanted = shortEdgeSize(header, shortEdge);
    const resizesHere = !resizesAlike(header, wanted);
    const { height, width } = resizesHere ? header : wanted;
    const space = isCmyk ? "cmyk" : "srgb";
    const opened = this.#open(bytes).removeAlpha();
    const isResized = height !== header.height || width !== header.width;
    return await inDecodeMemory(
      memoryFor(header, { height, width }),
      async () => {
        const pixels = await this.#pixels(
          // With a colour space of its own, a pipeline decodes JPEGs in full before it shrinks them.
          (isResized
            ? resize(opened, wanted)
            : opened.pipelineColourspace(space))
            .toColourspace(space),
          { height, width },
          isCmyk ? 4 : 3,
          path,
        );
        const rgb = isCmyk ? cmykToRgb(pixels) : pixels;
        const image: Image = { data: rgb, height, width, channels: 3 };
        return toColorspace(
          resizesHere ? resample(image, wanted) : image,
          channels === 1 && colorspace !== "RGB" ? "GRAY" : colorspace,
        );
      },
    );
  }

  async decodeWithAlpha(
    bytes: Uint8Array,
    path?: string,
  ): Promise<AlphaImage> {
    const header = readImageHeader(bytes, path);
    if (!header.hasAlpha) return await this.decode(bytes, { path });
    const pipeline = this.#open(bytes).toColourspace("srgb");
    const { height, width } = header;
    const channels = header.channels === 1 ? 2 : 4;
    return await inDecodeMemory(decodedBytes(header), async () => {
      const rgba = await this.#pixels(pipeline, header, 4, path);
      return { data: rgbaToChannels(rgba, channels), height, width, channels };
    });
  }

  async encode(
    image: Image,
    quality = DEFAULT_QUALITY,
  ): Promise<Uint8Array<ArrayBuffer>> {
    assertImage(image);
    assertQuality(quality);
    assertJpegSize(image);
    const { channels } = image;
    return await output(toJpeg(this.#fromPixels(image), channels, quality));
  }

  async resizeShortEdge(image: Image, size: number): Promise<Image> {
    assertImage(image);
    const resized = shortEdgeSize(image, size);
    if (resized.height === image.height && resized.width === image.width) {
      return image;
    }
    if (isLarger(resized, image)) return resample(image, resized);
    const rgb = await this.#pixels(
      resize(this.#fromPixels(image), resized).toColourspace("srgb"),
      resized,
      3,
    );
    return toColorspace(
      { data: rgb, ...resized, channels: 3 },
      image.channels === 1 ? "GRAY" : "RGB",
    );
  }

  async jpegFromImageFile(
    bytes: Uint8Array,
    options: JpegOptions = {},
  ): Promise<Uint8Array> {
    const { shortEdge = 0, quality = DEFAULT_QUALITY, path } = options;
    assertQuality(quality);
    const header = readImageHeader(bytes, path);
    const size = shortEdgeSize(header, shortEdge);
    const unchanged = unchangedJpeg(bytes, header, options);
    if (unchanged !== undefined) return unchanged;
    if (!resizesAlike(header, size)) {
      const image = await this.decode(bytes, { path });
      return await this.encode(resample(image, size), quality);
    }
    assertJpegSize(size);
    const pipeline = resize(this.#open(bytes).removeAlpha(), size);
    return await inDecodeMemory(
      memoryFor(header, size),
      () => output(toJpeg(pipeline, header.channels, quality), path),
    );
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

/**
 * Whether a pipeline that opens, resizes and drops alpha does what doing so one after the other does:
 * where there is an alpha channel, libvips weighs colours by it.
 */
function resizesAlike(header: ImageHeader, size: Size): boolean {
  return !header.isCmyk && !header.hasAlpha && !isLarger(size, header);
}

/** libjpeg decodes to a half, a quarter or an eighth where that is enough. */
function memoryFor(header: ImageHeader, { height, width }: Size): number {
  const isShrunk = header.format === "jpeg" && height * 2 <= header.height &&
    width * 2 <= header.width;
  return isShrunk ? decodedBytes(header) / 4 : decodedBytes(header);
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
