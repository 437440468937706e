import { dropChroma } from "./drop_chroma.ts";
import {
  type AlphaImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
} from "./image.ts";
import type { Eighths, ImageBackend } from "./image_backend.ts";
import { ImageError } from "./image_error.ts";
import type { ImageHeader } from "./image_header.ts";
import { ImagescriptWasm, type WasmPixels } from "./imagescript_wasm.ts";
import { imageSource, type PixelSource } from "./pixels/render.ts";

/** Images through the WebAssembly of npm's imagescript: no permission but `--allow-read`. */
export class ImagescriptBackend implements ImageBackend {
  readonly name = "imagescript";
  readonly #wasm: ImagescriptWasm;

  private constructor(wasm: ImagescriptWasm) {
    this.#wasm = wasm;
  }

  /** Loads and compiles the package's WebAssembly. */
  static async load(): Promise<ImagescriptBackend> {
    return new ImagescriptBackend(await ImagescriptWasm.load());
  }

  pixels(
    bytes: Uint8Array,
    header: ImageHeader,
    _eighths: Eighths,
    path: string | undefined,
  ): PixelSource {
    return imageSource(this.#decode(bytes, header, header.channels, path));
  }

  decodeAlpha(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): AlphaImage {
    return this.#decode(bytes, header, header.channels === 1 ? 2 : 4, path);
  }

  encode(
    { data, height, width, channels }: Image,
    quality: number,
  ): Uint8Array<ArrayBuffer> {
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
}

/** The module's pixels in the channels that are wanted. */
function toChannels(
  { data, format }: WasmPixels,
  channels: AlphaImage["channels"],
): Uint8Array<ArrayBuffer> {
  if (format === "cmyk") return cmykToRgb(data);
  return format === "rgba" ? rgbaToChannels(data, channels) : data;
}
