import { dropChroma } from "./drop_chroma.ts";
import {
  type AlphaImage,
  cmykToRgb,
  type Image,
  rgbaToChannels,
} from "./image.ts";
import type { Eighths, ImageBackend } from "./image_backend.ts";
import { ImageError } from "./image_error.ts";
import { FORMAT_NAMES, type ImageHeader } from "./image_header.ts";
import {
  type JpegExports,
  loadModule,
  oneInstance,
  type PngExports,
  put,
  view,
} from "./imagescript_wasm.ts";
import { imageSource, type PixelSource } from "./pixels/render.ts";

interface WasmPixels {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  readonly format: "gray" | "rgb" | "cmyk" | "rgba";
}

/** The JPEG module's pixel formats, by number. */
const JPEG_FORMATS = ["gray", "rgb", "cmyk"] as const;

/** Decodes and encodes with the WebAssembly of npm's imagescript, which needs only `--allow-read`. */
export class ImagescriptBackend implements ImageBackend {
  readonly name = "imagescript";
  readonly #withJpeg;
  readonly #withPng;

  private constructor(jpeg: WebAssembly.Module, png: WebAssembly.Module) {
    const env = { "emscripten_notify_memory_growth": () => {} };
    this.#withJpeg = oneInstance<JpegExports>(jpeg);
    this.#withPng = oneInstance<PngExports>(png, { env });
  }

  static async load(): Promise<ImagescriptBackend> {
    const modules = ["jpeg", "png"].map((name) => loadModule(name));
    const [jpeg, png] = await Promise.all(modules);
    return new ImagescriptBackend(jpeg!, png!);
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
    const jpeg = this.#withJpeg((wasm) => {
      const size = 4 * width * height;
      const pointer = wasm.walloc(size);
      const rgba = view(wasm, pointer, size);
      for (let from = 0, to = 0; to < rgba.length; from += channels) {
        rgba[to++] = data[from]!;
        rgba[to++] = data[channels === 1 ? from : from + 1]!;
        rgba[to++] = data[channels === 1 ? from : from + 2]!;
        rgba[to++] = 0xff;
      }
      const buffer = wasm.encode(pointer, width, height, quality);
      const length = wasm.wlen();
      const encoded = view(wasm, buffer, length).slice();
      wasm.wfree(buffer, length);
      return encoded;
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
    const { format } = header;
    if (format !== "jpeg" && format !== "png") {
      throw new ImageError(
        "codec-unavailable",
        `${FORMAT_NAMES[format]} pictures need the codec 'sharp', and that ` +
          `needs --allow-ffi, --allow-env and --allow-read`,
        { path },
      );
    }
    try {
      pixels = format === "jpeg"
        ? this.#decodeJpeg(bytes)
        : this.#decodePng(bytes);
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

  #decodeJpeg(bytes: Uint8Array): WasmPixels {
    return this.#withJpeg((wasm) => {
      const pointer = put(wasm, bytes);
      const image = wasm.decode(pointer, bytes.length, 0, 0);
      const format = image === 0
        ? undefined
        : JPEG_FORMATS[wasm.decode_format(image)];
      if (format === undefined) throw new Error("cannot decode this JPEG");
      const buffer = wasm.decode_buffer(image);
      const data = view(wasm, buffer, wasm.wlen()).slice();
      const width = wasm.decode_width(image);
      const height = wasm.decode_height(image);
      wasm.decode_free(image);
      return { data, width, height, format };
    });
  }

  #decodePng(bytes: Uint8Array): WasmPixels {
    return this.#withPng((wasm) => {
      const pointer = put(wasm, bytes);
      const buffer = wasm.decode(pointer, bytes.length);
      wasm.wfree(pointer);
      if (buffer < 0) throw new Error(`cannot decode this PNG (${buffer})`);
      const [width, height] = [wasm.width(), wasm.height()];
      const data = view(wasm, buffer, 4 * width * height).slice();
      wasm.wfree(buffer);
      return { data, width, height, format: "rgba" };
    });
  }
}

function toChannels(
  { data, format }: WasmPixels,
  channels: AlphaImage["channels"],
): Uint8Array<ArrayBuffer> {
  if (format === "cmyk") return cmykToRgb(data);
  return format === "rgba" ? rgbaToChannels(data, channels) : data;
}
