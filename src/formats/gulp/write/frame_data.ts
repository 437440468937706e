import { imageCodec } from "../../../codecs/image/choose_codec.ts";
import type { Image } from "../../../codecs/image/image.ts";

/** A frame to be written: pixels, encoded with quality 90, or a JPEG, stored as it is. */
export type FrameData = Image | Uint8Array;

/** Frames to be written, all at once or as they come. */
export type Frames = Iterable<FrameData> | AsyncIterable<FrameData>;

/**
 * The JPEG of a frame.
 *
 * @throws {TypeError} If it is neither a JPEG nor an image.
 */
export async function jpegOf(frame: FrameData): Promise<Uint8Array> {
  if (frame instanceof Uint8Array) return checkedJpeg(frame);
  assertIsFrame(frame);
  return await (await imageCodec()).encode(frame);
}

/** A JPEG without waiting: pixels are encoded asynchronously. */
export function jpegOfSync(frame: FrameData): Uint8Array {
  if (frame instanceof Uint8Array) return checkedJpeg(frame);
  assertIsFrame(frame);
  throw new TypeError(
    "Image codecs encode asynchronously: use the method without Sync, or give JPEGs",
  );
}

/** Bytes of one JPEG are a list, too: of numbers. */
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
    `A frame of ${bytes.length} bytes is no JPEG: JPEGs start with FF D8 and end with ` +
      `FF D9; give the whole file without what follows it, or pixels`,
  );
}

/** What keeps bytes from being a JPEG, if anything. */
export function jpegFault(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4) return "is too short for a JPEG";
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return "does not start as a JPEG";
  if (bytes.at(-2) !== 0xff || bytes.at(-1) !== 0xd9) {
    return "does not end as a JPEG";
  }
  return undefined;
}
