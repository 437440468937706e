import { dropChroma } from "./drop_chroma.ts";
import {
  type AlphaImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
} from "./image.ts";
import { ImageError } from "./image_error.ts";
import { ImagescriptWasm, type WasmPixels } from "./imagescript_wasm.ts";
import { type EncodedImage, PixelCodec } from "./pixel_codec.ts";
import type { Size } from "./short_edge.ts";

/** Images through the WebAssembly of npm's imagescript: no permission but `--allow-read`. */
export class ImagescriptCodec extends PixelCodec {
  override readonly name = "imagescript";
  readonly #wasm: ImagescriptWasm;

  private constructor(wasm: ImagescriptWasm) {
    super();
    this.#wasm = wasm;
  }

  /** Loads and compiles the package's WebAssembly. */
  static async load(): Promise<ImagescriptCodec> {
    return new ImagescriptCodec(await ImagescriptWasm.load());
  }

  protected override pixels(
    { bytes, header, path }: EncodedImage,
    { height, width }: Size,
    channels: AlphaImage["channels"],
  ): AlphaImage {
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

  protected override jpeg(
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
}

/** The module's pixels in the channels that are wanted. */
function toChannels(
  { data, format }: WasmPixels,
  channels: AlphaImage["channels"],
): Uint8Array<ArrayBuffer> {
  if (format === "cmyk") return cmykToRgb(data);
  return format === "rgba" ? rgbaToChannels(data, channels) : data;
}
