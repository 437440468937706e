import type { AlphaImage, Image } from "./image.ts";
import type { ImageHeader } from "./image_header.ts";
import type { PixelSource } from "./pixels/render.ts";

/** Eighths of its size that a JPEG may be decoded at. */
export type Eighths = 1 | 2 | 4 | 8;

/** The part of an {@linkcode ImageCodec} that a package or library implements. */
export interface ImageBackend {
  readonly name: string;
  /**
   * Returns the pixels of an image, without alpha. `eighths` is the wanted size of a JPEG, 8 for anything else; the
   * result may be larger. Throws an {@linkcode ImageError} if the image is damaged.
   */
  pixels(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource | Promise<PixelSource>;
  /** Returns the pixels of a JPEG that is not CMYK, decoded synchronously when needed. */
  source?(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource;
  decodeAlpha(
    bytes: Uint8Array,
    header: ImageHeader,
    path: string | undefined,
  ): AlphaImage | Promise<AlphaImage>;
  /** Encodes a JPEG without chroma subsampling. */
  encode(
    image: Image,
    quality: number,
  ): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
}
