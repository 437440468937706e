import type { AlphaImage, Image } from "../../../codecs/image/image.ts";
import type { decodeVideo, encodeVideo } from "../../../codecs/video/mod.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { ValueError } from "./value_error.ts";

// Codecs are loaded on demand: copying or checking a dataset usually decodes no picture.
const loadImages = () => import("../../../codecs/image/choose_codec.ts");
const loadVideos = () => import("../../../codecs/video/mod.ts");

/** Pillow's default, which bags and granular use: neither passes on the requested quality. */
const DEFAULT_QUALITY = 75;

/**
 * Encodes the types `jpeg` and `jpg`. The argument is the quality from 1 to 100, as in `jpeg(80)`; 75 by default.
 *
 * @throws {TypeError} If the value is not an image, or has an alpha channel.
 * @throws {ValueError} If the arguments are invalid.
 */
export async function encodeJpegValue(
  image: Image,
  ...args: string[]
): Promise<Uint8Array<ArrayBuffer>> {
  const quality = args.length === 0 ? DEFAULT_QUALITY : Number(args[0]);
  const isQuality = Number.isInteger(quality) && quality >= 1 && quality <= 100;
  if (args.length > 1 || !isQuality) {
    throw new ValueError(
      "bad-arguments",
      "jpeg",
      `(${args.join(",")}); there is one, the quality, from 1 to 100`,
    );
  }
  const codec = await (await loadImages()).imageCodec();
  return await codec.encode(image, quality);
}

/** Encodes the type `png`. Throws if the value is not an image, or the type has arguments. */
export async function encodePngValue(
  image: AlphaImage,
  ...args: string[]
): Promise<Uint8Array<ArrayBuffer>> {
  if (args.length > 0) {
    throw new ValueError(
      "bad-arguments",
      "png",
      `(${args.join(",")}); it takes none`,
    );
  }
  const { encodePng } = await import("../../../codecs/image/encode_png.ts");
  return await encodePng(image);
}

/**
 * Decodes a value of the type `jpeg`, `jpg` or `png`; arguments matter only to the encoder. Unlike Pillow, which
 * returns palette indices and 16-bit samples unchanged, this returns colours of 8 bits a channel.
 *
 * @throws {ImageError} If it is damaged, too large, or of an unsupported kind.
 */
export async function decodeImageValue(
  bytes: Uint8Array,
): Promise<AlphaImage> {
  const codec = await (await loadImages()).imageCodec();
  return await codec.decodeWithAlpha(bytes);
}

/**
 * Returns a decoder for the types `mp4` and `webm` that returns frames and needs the program ffmpeg. The shipped
 * decoders return the bytes.
 *
 * @example For the reader of a dataset
 * ```ts ignore
 * const decoders = { ...decodersOf(2), mp4: videoDecoder() };
 * ```
 */
export function videoDecoder(
  options: Parameters<typeof decodeVideo>[1] = {},
): (bytes: Uint8Array) => Promise<NdArray> {
  return async (bytes) =>
    await (await loadVideos()).decodeVideo(bytes, options);
}

/**
 * Returns an encoder for the types `mp4` and `webm` that takes frames; the shipped encoders take bytes.
 *
 * @example For the writer of a dataset
 * ```ts ignore
 * const encoders = { ...encodersOf(3), webm: videoEncoder({ format: "webm", fps: 30 }) };
 * ```
 */
export function videoEncoder(
  options: Parameters<typeof encodeVideo>[1] = {},
): (frames: NdArray) => Promise<Uint8Array<ArrayBuffer>> {
  return async (frames) =>
    await (await loadVideos()).encodeVideo(frames, options);
}
