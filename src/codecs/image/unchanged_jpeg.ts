import type { JpegOptions } from "./image_codec.ts";
import type { ImageHeader } from "./image_header.ts";
import { jpegLength } from "./jpeg_scanner.ts";
import { shortEdgeSize } from "./short_edge.ts";

/**
 * The bytes of an image file that can serve as they are: a whole JPEG of the size wanted.
 *
 * @returns A view of `bytes` up to EOI, or `undefined` if the image has to be decoded.
 */
export function unchangedJpeg(
  bytes: Uint8Array,
  header: ImageHeader,
  { shortEdge = 0, reencode = false }: JpegOptions,
): Uint8Array | undefined {
  if (reencode || header.format !== "jpeg") return undefined;
  const { height, width } = shortEdgeSize(header, shortEdge);
  if (height !== header.height || width !== header.width) return undefined;
  const length = jpegLength(bytes);
  return length === undefined ? undefined : bytes.subarray(0, length);
}
