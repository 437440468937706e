import type { AlphaImage, Colorspace, Image } from "./image.ts";

/** Options of decoding an image. */
export interface DecodeOptions {
  /** `RGB`, `GRAY`, or `ANY` (unless given): gray stays gray, all else becomes RGB. */
  readonly colorspace?: Colorspace | undefined;
  /**
   * Decodes to this short edge, in pixels; below 1, or not given, the size stays. It takes less time and
   * memory than resizing afterwards, where a large JPEG need not be decoded in full.
   */
  readonly shortEdge?: number | undefined;
  /**
   * Decodes all of a JPEG, also where a half, a quarter or an eighth of its size is still six times as large as
   * what is wanted: pixels of natural pictures may differ by up to 3 there, very few by more.
   */
  readonly exact?: boolean | undefined;
  /** Name of the image in errors: the file's path, or the frame. */
  readonly path?: string | undefined;
}

/** Options of {@linkcode ImageCodec.jpegFromImageFile}. */
export interface JpegOptions {
  /** The short edge of the result, in pixels; below 1, or not given, the size stays. */
  readonly shortEdge?: number | undefined;
  /** JPEG quality, 1 to 100; 90 unless given, as GulpIO2 has it. */
  readonly quality?: number | undefined;
  /** Encodes anew also a JPEG that already has the size wanted. */
  readonly reencode?: boolean | undefined;
  /** Name of the image in errors. */
  readonly path?: string | undefined;
}

/** Decodes JPEG and PNG, resizes, and encodes JPEG. */
export interface ImageCodec {
  /** The package or library that does it. */
  readonly name: string;
  /**
   * Decodes a JPEG or PNG. An alpha channel is left out; EXIF orientation and colour profiles are
   * not applied.
   *
   * @throws {ImageError} If the image is damaged, too large, or of a kind that is not read.
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): Promise<Image>;
  /**
   * Decodes a JPEG or PNG as {@linkcode ImageCodec.decode} does with the colour space `ANY`, and
   * keeps the alpha channel of a PNG that has one.
   *
   * @param path What errors call the image.
   * @throws {ImageError} If the image is damaged, too large, or of a kind that is not read.
   */
  decodeWithAlpha(bytes: Uint8Array, path?: string): Promise<AlphaImage>;
  /**
   * Encodes a JPEG without chroma subsampling, as GulpIO2 does; a gray image as a gray JPEG.
   *
   * @param image What to encode.
   * @param quality 1 to 100, as libjpeg counts; 90 unless given.
   */
  encode(image: Image, quality?: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Resizes to a short edge of `size` pixels, bilinearly, averaging where it shrinks. The long edge
   * is `size × long / short` rounded down.
   *
   * @param size In pixels; below 1 the image stays as it is.
   */
  resizeShortEdge(image: Image, size: number): Promise<Image>;
  /**
   * The JPEG for an image file: decoded, resized and encoded, or the very bytes where it is a JPEG
   * and nothing is to be changed. Gray stays gray.
   *
   * @returns The JPEG; where nothing was changed, a view of `bytes` without what follows its end.
   * @throws {ImageError} If the image is damaged, too large, or of a kind that is not read.
   */
  jpegFromImageFile(
    bytes: Uint8Array,
    options?: JpegOptions,
  ): Promise<Uint8Array>;
}
