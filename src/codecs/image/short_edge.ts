import { MAX_PIXELS } from "./image_header.ts";
import { ImageError } from "./image_error.ts";

/** Height and width in pixels. */
export interface Size {
  /** Rows. */
  readonly height: number;
  /** Pixels in a row. */
  readonly width: number;
}

/** Highest value in a JPEG's header. */
const MAX_JPEG_EDGE = 65_535;

/**
 * Size of an image scaled to a short edge, as GulpIO computes it: the long edge is rounded down.
 *
 * @param size Size before.
 * @param shortEdge In pixels; below 1, the size stays.
 * @throws {RangeError} If `shortEdge` is not an integer.
 * @throws {ImageError} If the result would be too large.
 */
export function shortEdgeSize(size: Size, shortEdge: number): Size {
  if (!Number.isSafeInteger(shortEdge)) {
    throw new RangeError(
      `The short edge must be a whole number, not ${shortEdge}`,
    );
  }
  if (shortEdge < 1) return size;
  const { height, width } = size;
  // Divides first, like GulpIO: the other order rounds differently.
  const resized = height < width
    ? { height: shortEdge, width: Math.floor(shortEdge * (width / height)) }
    : { height: Math.floor(shortEdge * (height / width)), width: shortEdge };
  if (
    Math.max(resized.height, resized.width) > MAX_JPEG_EDGE ||
    resized.height * resized.width > MAX_PIXELS
  ) {
    throw new ImageError(
      "image-too-large",
      `${width} × ${height} pixels with a short edge of ${shortEdge} ` +
        `would be ${resized.width} × ${resized.height}. Choose a shorter ` +
        "edge",
    );
  }
  return resized;
}

/** @throws {ImageError} If no JPEG can have this size. */
export function assertJpegSize({ height, width }: Size): void {
  if (Math.max(height, width) <= MAX_JPEG_EDGE) return;
  throw new ImageError(
    "image-too-large",
    `a JPEG cannot have ${width} × ${height} pixels: ` +
      `its edges are at most ${MAX_JPEG_EDGE}`,
  );
}
