import type { AlphaImage, Image } from "./image.ts";
import type { ImageHeader } from "./image_header.ts";
import type { PixelSource } from "./pixels/render.ts";

/** Eighths of its size that a JPEG may be decoded at. */
export type Eighths = 1 | 2 | 4 | 8;

/** What a package or a library does of an {@linkcode ImageCodec}'s work. */
export interface ImageBackend {
  /** What it is called. */
  readonly name: string;
  /**
   * The pixels of an image, without its alpha channel.
   *
   * @param header The image's.
   * @param eighths The size that a JPEG is wanted at, 8 for anything else; it may be decoded larger.
   * @param path What errors call it.
   * @throws {ImageError} If it is damaged.
   */
  pixels(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource | Promise<PixelSource>;
  /** The pixels of a JPEG that is not CMYK, where they are decoded without waiting when they are needed. */
  source?(
    bytes: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource;
  /** Decodes an image that has an alpha channel. */
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
