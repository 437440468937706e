import { decodedBytes, inDecodeMemory } from "./decode_memory.ts";
import {
  type AlphaImage,
  assertImage,
  type Image,
  toColorspace,
} from "./image.ts";
import type { DecodeOptions, ImageCodec, JpegOptions } from "./image_codec.ts";
import { type ImageHeader, readImageHeader } from "./image_header.ts";
import { jpegLength } from "./jpeg_scanner.ts";
import { resample } from "./resample.ts";
import { assertJpegSize, shortEdgeSize, type Size } from "./short_edge.ts";

/** GulpIO2's JPEG quality. */
const DEFAULT_QUALITY = 90;

/** An image file whose header has been read. */
export interface EncodedImage {
  readonly bytes: Uint8Array;
  readonly header: ImageHeader;
  /** Its name in errors. */
  readonly path: string | undefined;
}

/** The common part of codecs: all but how a package decodes and encodes pixels. */
export abstract class PixelCodec implements ImageCodec {
  abstract readonly name: string;

  async decode(
    bytes: Uint8Array,
    { colorspace = "ANY", shortEdge = 0, path }: DecodeOptions = {},
  ): Promise<Image> {
    const header = readImageHeader(bytes, path);
    const size = shortEdgeSize(header, shortEdge);
    return await inDecodeMemory(this.#memoryFor(header, size), async () => {
      const image = await this.resized({ bytes, header, path }, size);
      return toColorspace(image, colorspace);
    });
  }

  async decodeWithAlpha(bytes: Uint8Array, path?: string): Promise<AlphaImage> {
    const header = readImageHeader(bytes, path);
    const { channels, hasAlpha } = header;
    const all = !hasAlpha ? channels : channels === 1 ? 2 : 4;
    return await inDecodeMemory(
      decodedBytes(header),
      () => this.pixels({ bytes, header, path }, header, all),
    );
  }

  async encode(
    image: Image,
    quality = DEFAULT_QUALITY,
  ): Promise<Uint8Array<ArrayBuffer>> {
    assertImage(image);
    assertQuality(quality);
    assertJpegSize(image);
    return await this.jpeg(image, quality);
  }

  async resizeShortEdge(image: Image, size: number): Promise<Image> {
    assertImage(image);
    return await this.resize(image, shortEdgeSize(image, size));
  }

  async jpegFromImageFile(
    bytes: Uint8Array,
    options: JpegOptions = {},
  ): Promise<Uint8Array> {
    const { shortEdge = 0, quality = DEFAULT_QUALITY, path } = options;
    assertQuality(quality);
    const header = readImageHeader(bytes, path);
    const size = shortEdgeSize(header, shortEdge);
    const isUnchanged = header.format === "jpeg" && !options.reencode &&
      size.height === header.height && size.width === header.width;
    const length = isUnchanged ? jpegLength(bytes) : undefined;
    if (length !== undefined) return bytes.subarray(0, length);
    assertJpegSize(size);
    return await inDecodeMemory(
      this.#memoryFor(header, size),
      () => this.jpegOf({ bytes, header, path }, size, quality),
    );
  }

  /**
   * Decodes pixels.
   *
   * @param size The header's, or one that it is resized to while it is decoded.
   * @param channels What a pixel is to have.
   */
  protected abstract pixels(
    file: EncodedImage,
    size: Size,
    channels: AlphaImage["channels"],
  ): AlphaImage | Promise<AlphaImage>;

  /** Encodes an image that has been checked. */
  protected abstract jpeg(
    image: Image,
    quality: number,
  ): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

  /** Resizes an image. */
  protected resize(image: Image, size: Size): Image | Promise<Image> {
    return resample(image, size);
  }

  /** True if resizing while it is decoded does what resizing afterwards does. */
  protected resizesAlike(_header: ImageHeader, _size: Size): boolean {
    return false;
  }

  /** Decodes and resizes an image. */
  protected async resized(file: EncodedImage, size: Size): Promise<Image> {
    const { header } = file;
    const decoded = this.resizesAlike(header, size) ? size : header;
    const image = await this.pixels(file, decoded, header.channels);
    return resample(image as Image, size);
  }

  /** Makes a JPEG of another image file. */
  protected async jpegOf(
    file: EncodedImage,
    size: Size,
    quality: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return await this.jpeg(await this.resized(file, size), quality);
  }

  /** libjpeg decodes to a half, a quarter or an eighth where that is enough. */
  #memoryFor(header: ImageHeader, size: Size): number {
    const isShrunk = header.format === "jpeg" &&
      size.height * 2 <= header.height && size.width * 2 <= header.width &&
      this.resizesAlike(header, size);
    return isShrunk ? decodedBytes(header) / 4 : decodedBytes(header);
  }
}

/** @throws {RangeError} If `quality` is not a whole number from 1 to 100. */
function assertQuality(quality: number): void {
  if (Number.isInteger(quality) && quality >= 1 && quality <= 100) return;
  throw new RangeError(
    `A JPEG quality of ${quality}: give a whole number from 1 to 100`,
  );
}
