import type { AlphaImage, Colorspace, Image } from "./image.ts";

/** Decodes JPEG, PNG, WebP, AVIF, GIF and TIFF, resizes, and encodes JPEG. */
export interface ImageCodec {
  /** Package or library behind the codec. */
  readonly name: string;
  /**
   * Decodes a JPEG or PNG; with the codecs `turbojpeg` and `sharp` also a WebP, AVIF, GIF or TIFF, of which the first
   * frame or page. Drops alpha; does not apply orientation or colour profiles.
   *
   * @throws {ImageError} If the image is damaged, too large, or unsupported.
   */
  decode(bytes: Uint8Array, options?: {
    /** `RGB`, `GRAY` or `ANY` (default): gray stays gray, everything else becomes RGB. */
    readonly colorspace?: Colorspace | undefined;
    /**
     * Short edge of the result, in pixels; below 1 or not given, the size stays. Faster and smaller in memory than
     * resizing afterwards if a large JPEG need not be decoded in full.
     */
    readonly shortEdge?: number | undefined;
    /**
     * Decodes a JPEG in full, even if a half, a quarter or an eighth of its size is still six times the wanted size.
     * Pixels of such fractions may differ by up to 3 in natural pictures, very few by more.
     */
    readonly exact?: boolean | undefined;
    /** Name of the image in errors: the file's path, or the frame. */
    readonly path?: string | undefined;
  }): Promise<Image>;
  /**
   * Decodes an image as {@linkcode ImageCodec.decode} with colour space `ANY`, but keeps its alpha.
   *
   * @param path Name of the image in errors.
   * @throws {ImageError} If the image is damaged, too large, or unsupported.
   */
  decodeWithAlpha(bytes: Uint8Array, path?: string): Promise<AlphaImage>;
  /**
   * Encodes a JPEG without chroma subsampling, as GulpIO2 does; a gray image becomes a gray JPEG.
   *
   * @param image Pixels to encode.
   * @param quality libjpeg's quality, 1 to 100; 90 by default.
   */
  encode(image: Image, quality?: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Resizes to a short edge of `size` pixels, bilinearly, averaging when it shrinks. The long edge is `size × long /
   * short`, rounded down.
   *
   * @param size In pixels; below 1, the image stays unchanged.
   */
  resizeShortEdge(image: Image, size: number): Promise<Image>;
  /**
   * Returns the JPEG for an image file: decoded, resized and encoded, or the same bytes if it already is a JPEG and
   * nothing changes. Gray stays gray.
   *
   * @returns The JPEG. If unchanged, a view of `bytes` without trailing data.
   * @throws {ImageError} If the image is damaged, too large, or unsupported.
   */
  jpegFromImageFile(bytes: Uint8Array, options?: {
    /** Short edge of the result, in pixels; below 1 or not given, the size stays. */
    readonly shortEdge?: number | undefined;
    /** JPEG quality, 1 to 100; 90 by default, as in GulpIO2. */
    readonly quality?: number | undefined;
    /** Re-encodes even a JPEG that already has the wanted size. */
    readonly reencode?: boolean | undefined;
    /** Name of the image in errors. */
    readonly path?: string | undefined;
  }): Promise<Uint8Array>;
}
