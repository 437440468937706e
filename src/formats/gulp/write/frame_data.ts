import { imageCodec } from "../../../codecs/image/choose_codec.ts";
import type { Image } from "../../../codecs/image/image.ts";

/** A frame to write: pixels, which are encoded with quality 90, or a JPEG, which is stored unchanged. */
export type FrameData = Image | Uint8Array;

/** Frames to write, as a list or as a stream. */
export type Frames = Iterable<FrameData> | AsyncIterable<FrameData>;

/** Returns the JPEG of a frame; throws TypeError if it is neither a JPEG nor an image. */
export async function jpegOf(frame: FrameData): Promise<Uint8Array> {
  if (frame instanceof Uint8Array) return checkedJpeg(frame);
  assertIsFrame(frame);
  return await (await imageCodec()).encode(frame);
}

/** Returns a JPEG synchronously; pixels are rejected, since codecs are asynchronous. */
export function jpegOfSync(frame: FrameData): Uint8Array {
  if (frame instanceof Uint8Array) return checkedJpeg(frame);
  assertIsFrame(frame);
  throw new TypeError(
    "Image codecs encode asynchronously: use the method without Sync, or give JPEGs",
  );
}

/** Requires an image. The bytes of a single JPEG, given instead of a list, iterate as numbers. */
function assertIsFrame(frame: Image): void {
  if (frame?.data instanceof Uint8Array) return;
  throw new TypeError(
    "Frames are given as a list, each a JPEG's bytes or an image " +
      "{data, height, width, channels}",
  );
}

function checkedJpeg(bytes: Uint8Array): Uint8Array {
  if (jpegFault(bytes) === undefined) return bytes;
  throw new TypeError(
    `A frame of ${bytes.length} bytes is not a JPEG: JPEGs start with FF D8 and end with ` +
      `FF D9; give the whole file without what follows it, or pixels`,
  );
}

/** Returns why bytes are not a JPEG, or `undefined`. */
export function jpegFault(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4) return "is too short for a JPEG";
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return "does not start as a JPEG";
  if (bytes.at(-2) !== 0xff || bytes.at(-1) !== 0xd9) {
    return "does not end as a JPEG";
  }
  return undefined;
}
