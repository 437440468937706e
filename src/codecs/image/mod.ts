/**
 * Image codecs: JPEG, PNG, WebP, AVIF, GIF and TIFF to pixels, and pixels to JPEG and PNG.
 *
 * @module
 */
export { imageCodec, type ImageCodecName } from "./choose_codec.ts";
export { encodePng } from "./encode_png.ts";
export type { AlphaImage, Colorspace, Image } from "./image.ts";
export type { ImageCodec } from "./image_codec.ts";
export { ImageError } from "./image_error.ts";
export { readImageHeader } from "./image_header.ts";
