/**
 * Image codecs: JPEG and PNG to pixels, and back.
 *
 * @module
 */
export { imageCodec, type ImageCodecName } from "./choose_codec.ts";
export { encodePng } from "./encode_png.ts";
export type { AlphaImage, Colorspace, Image } from "./image.ts";
export type { DecodeOptions, ImageCodec, JpegOptions } from "./image_codec.ts";
export { ImageError, type ImageErrorCode } from "./image_error.ts";
export { type ImageHeader, readImageHeader } from "./image_header.ts";
