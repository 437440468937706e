import type { AlphaImage, Image } from "../image.ts";
import type { Eighths, ImageBackend } from "../image_backend.ts";
import { type ImageHeader, isPlainJpeg } from "../image_header.ts";
import type { PixelSource } from "../pixels/render.ts";
import { loadTurboJpeg } from "./load_turbojpeg.ts";
import { TurboPictures } from "./turbo_pictures.ts";

/**
 * Decodes and encodes JPEGs with libturbojpeg, native code that needs `--allow-ffi`, `--allow-env` and `--allow-read`.
 * Delegates PNGs and CMYK JPEGs to another backend.
 */
export class TurboBackend implements ImageBackend {
  readonly name = "turbojpeg";
  readonly #pictures: TurboPictures;
  readonly #loadOther: () => Promise<ImageBackend>;

  private constructor(
    pictures: TurboPictures,
    loadOther: () => Promise<ImageBackend>,
  ) {
    this.#pictures = pictures;
    this.#loadOther = loadOther;
  }

  /**
   * @param loadOther Loads the backend for images that this one does not decode.
   * @throws If the platform has no build of the library, or a permission is missing.
   */
  static async load(
    loadOther: () => Promise<ImageBackend>,
  ): Promise<TurboBackend> {
    return new TurboBackend(
      new TurboPictures(await loadTurboJpeg()),
      loadOther,
    );
  }

  source(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource {
    return this.#pictures.source(bytes, header, eighths, path);
  }

  async pixels(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): Promise<PixelSource> {
    if (isPlainJpeg(header)) {
      return this.source(bytes, header, eighths, path);
    }
    return await (await this.#loadOther()).pixels(bytes, header, eighths, path);
  }

  async decodeAlpha(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): Promise<AlphaImage> {
    return await (await this.#loadOther()).decodeAlpha(bytes, header, path);
  }

  encode(image: Image, quality: number): Uint8Array<ArrayBuffer> {
    return this.#pictures.encode(image, quality);
  }
}
