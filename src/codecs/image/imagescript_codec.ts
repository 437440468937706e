import { decodedBytes, inDecodeMemory } from "./decode_memory.ts";
import { dropChroma } from "./drop_chroma.ts";
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
import { ImageError } from "./image_error.ts";
import { type ImageHeader, readImageHeader } from "./image_header.ts";
import { ImagescriptWasm, type WasmPixels } from "./imagescript_wasm.ts";
import { resample } from "./resample.ts";
import { assertJpegSize, shortEdgeSize } from "./short_edge.ts";
import { unchangedJpeg } from "./jpeg_scanner.ts";

/** Images through the WebAssembly of npm's imagescript: no permission but `--allow-read`. */
export class ImagescriptCodec implements ImageCodec {
  readonly name = "imagescript";
  readonly #wasm: ImagescriptWasm;

  private constructor(wasm: ImagescriptWasm) {
    this.#wasm = wasm;
  }

  /** Loads and compiles the package's WebAssembly. */
  static async load(): Promise<ImagescriptCodec> {
    return new ImagescriptCodec(await ImagescriptWasm.load());
  }

  async decode(
    bytes: Uint8Array,
    { colorspace = "ANY", shortEdge = 0, path }: DecodeOptions = {},
  ): Promise<Image> {
    const header = readImageHeader(bytes, path);
    const size = shortEdgeSize(header, shortEdge);
    return await inDecodeMemory(decodedBytes(header), () => {
      const image = this.#decode(bytes, header, header.channels, path);
      return toColorspace(resample(image, size), colorspace);
    });
  }

  async decodeWithAlpha(
    bytes: Uint8Array,
    path?: string,
  ): Promise<AlphaImage> {
    const header = readImageHeader(bytes, path);
    const { channels, hasAlpha } = header;
    const all = !hasAlpha ? channels : channels === 1 ? 2 : 4;
    return await inDecodeMemory<AlphaImage>(
      decodedBytes(header),
      () => this.#decode(bytes, header, all, path),
    );
  }

  // deno-lint-ignore require-await -- so that all it throws is a rejection
  async encode(
    image: Image,
    quality = DEFAULT_QUALITY,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.#encode(image, quality);
  }

  // deno-lint-ignore require-await -- so that all it throws is a rejection
  async resizeShortEdge(image: Image, size: number): Promise<Image> {
    assertImage(image);
    return resample(image, shortEdgeSize(image, size));
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
    return await inDecodeMemory(decodedBytes(header), () => {
      const image = this.#decode(bytes, header, header.channels, path);
      return this.#encode(resample(image, size), quality);
    });
  }

  #decode<C extends AlphaImage["channels"]>(
    bytes: Uint8Array,
    header: ImageHeader,
    channels: C,
    path: string | undefined,
  ): Omit<Image, "channels"> & { readonly channels: C } {
    let pixels: WasmPixels;
    try {
      pixels = header.format === "jpeg"
        ? this.#wasm.decodeJpeg(bytes)
        : this.#wasm.decodePng(bytes);
    } catch (cause) {
      const reason = cause instanceof WebAssembly.RuntimeError
        ? "failed on this image, which is damaged"
        : (cause as Error).message;
      throw new ImageError("bad-image", `imagescript ${reason}`, {
        path,
        cause,
      });
    }
    const { height, width } = header;
    const data = toChannels(pixels, channels);
    if (
      pixels.height === height && pixels.width === width &&
      data.length === height * width * channels
    ) return { data, height, width, channels };
    throw new ImageError(
      "bad-image",
      `its header says ${width} × ${height} pixels, imagescript decoded ` +
        `${pixels.width} × ${pixels.height} (${pixels.format})`,
      { path },
    );
  }

  #encode(image: Image, quality: number): Uint8Array<ArrayBuffer> {
    assertImage(image);
    assertQuality(quality);
    assertJpegSize(image);
    const { data, height, width, channels } = image;
    const jpeg = this.#wasm.encodeJpeg(width, height, quality, (rgba) => {
      for (let from = 0, to = 0; to < rgba.length; from += channels) {
        rgba[to++] = data[from]!;
        rgba[to++] = data[channels === 1 ? from : from + 1]!;
        rgba[to++] = data[channels === 1 ? from : from + 2]!;
        rgba[to++] = 0xff;
      }
    });
    return channels === 1 ? dropChroma(jpeg) : jpeg;
  }
}

/** The module's pixels in the channels that are wanted. */
function toChannels(
  { data, format }: WasmPixels,
  channels: AlphaImage["channels"],
): Uint8Array<ArrayBuffer> {
  if (format === "cmyk") return cmykToRgb(data);
  return format === "rgba" ? rgbaToChannels(data, channels) : data;
}
