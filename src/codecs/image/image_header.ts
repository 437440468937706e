import { ImageError } from "./image_error.ts";
import { avifHeader } from "./headers/avif_header.ts";
import { viewOf } from "../../base/view_of.ts";
import type { FoundHeader } from "./headers/found_header.ts";
import { gifHeader } from "./headers/gif_header.ts";
import { tiffHeader } from "./headers/tiff_header.ts";
import { webpHeader } from "./headers/webp_header.ts";
import { sniffedSuffix } from "../values/sniffed_suffix.ts";

/** Header of an encoded image. */
export type ImageHeader = ReturnType<typeof readImageHeader>;

/** Names of formats in messages. */
export const FORMAT_NAMES: Readonly<Record<ImageHeader["format"], string>> = {
  avif: "AVIF",
  gif: "GIF",
  jpeg: "JPEG",
  png: "PNG",
  tiff: "TIFF",
  webp: "WebP",
};

/** Whether it is a JPEG that all JPEG decoders accept: gray or three components. */
export function isPlainJpeg({ format, isCmyk }: ImageHeader): boolean {
  return format === "jpeg" && !isCmyk;
}

/** Pixel limit of an image: a header may claim 65,535 × 65,535. */
export const MAX_PIXELS = 2 ** 27;

/** A JPEG takes at least one bit per 8 × 8 block; the 4 allows for exotic subsampling. */
const JPEG_PIXELS_PER_BYTE = 64 * 8 * 4;

/** Deflate's highest ratio. */
const PNG_BYTES_PER_BYTE = 1032;

/** Frame headers of T.81, without DHT, JPG and DAC, which lie among them. */
function isFrameHeader(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 &&
    code !== 0xcc;
}

/** GIF's LZW: at most 4,096 pixels in 12 bits. */
const GIF_PIXELS_PER_BYTE = 2731;

/** Pixels of a screen that is accepted however little of it the first frame draws. */
const GIF_SCREEN = 2 ** 24;

/** Formats besides JPEG and PNG, and their readers, by the suffix for their signatures. */
const OTHERS = {
  ".avif": ["avif", avifHeader],
  ".gif": ["gif", gifHeader],
  ".tif": ["tiff", tiffHeader],
  ".webp": ["webp", webpHeader],
} as const;

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/**
 * Reads the header of a JPEG, PNG, WebP, AVIF, GIF or TIFF without decoding it, and rejects impossible sizes. Of several
 * frames or pages, the first counts.
 *
 * @param bytes The whole file.
 * @param path Name of the image in errors.
 * @throws {ImageError} If it is none of them, is truncated, too large, or unsupported.
 *
 * @example Height and width of an image
 * ```ts
 * import { readImageHeader } from "@recordfs/recordfs/image";
 *
 * const bmp = new TextEncoder().encode("BM");
 * try {
 *   readImageHeader(bmp);
 * } catch (error) {
 *   console.log(`${error}`); // ImageError: it is not a JPEG, PNG, WebP, AVIF, GIF or TIFF …
 * }
 * ```
 */
export function readImageHeader(bytes: Uint8Array, path?: string): {
  /** Encoding. */
  readonly format: "avif" | "gif" | "jpeg" | "png" | "tiff" | "webp";
  /** Rows. */
  readonly height: number;
  /** Pixels in a row. */
  readonly width: number;
  /** Channels that it decodes to: 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
  /** Whether the pixels have alpha in addition to `channels`. */
  readonly hasAlpha: boolean;
  /** Whether the pixels are stored as CMYK. */
  readonly isCmyk: boolean;
} {
  const header = bytes[0] === 0xff && bytes[1] === 0xd8
    ? readJpegHeader(bytes, path)
    : PNG_SIGNATURE.every((byte, i) => bytes[i] === byte)
    ? readPngHeader(bytes, path)
    : readOtherHeader(bytes, path);
  const { height, width } = header;
  if (height === 0 || width === 0) {
    throw new ImageError("bad-image", `it is ${size(header)}`, { path });
  }
  if (height * width > MAX_PIXELS) {
    throw new ImageError(
      "image-too-large",
      `it claims ${size(header)}, more than the limit of ${MAX_PIXELS}`,
      { path, actual: height * width, expected: MAX_PIXELS },
    );
  }
  if (isTooShort(bytes, header)) {
    throw new ImageError(
      "bad-image",
      `it claims ${size(header)}, which ${bytes.length} bytes cannot ` +
        "hold: it is truncated or damaged",
      { path },
    );
  }
  return header;
}

function size({ height, width }: ImageHeader): string {
  return `${width} × ${height} pixels`;
}

/** Decoders allocate by the header; this bounds the allocation by the file's size. */
function isTooShort(bytes: Uint8Array, header: ImageHeader): boolean {
  const { format, height, width } = header;
  switch (format) {
    case "jpeg":
      return height * width > bytes.length * JPEG_PIXELS_PER_BYTE;
    case "gif": {
      const pixels = bytes.length * GIF_PIXELS_PER_BYTE;
      const { frame } = gifHeader(viewOf(bytes))!;
      const drawn = (frame.right - frame.left) * (frame.bottom - frame.top);
      return drawn > pixels || height * width > Math.max(pixels, GIF_SCREEN);
    }
    case "tiff": {
      const { rawBytes, ratio } = tiffHeader(viewOf(bytes))!;
      return rawBytes > bytes.length * ratio;
    }
    case "avif":
    case "webp":
      return false; // a few bytes may code any area of one colour
  }
  const bits = bytes[24]! * samplesOfColorType(bytes[25]!)!;
  const raw = height * (1 + Math.ceil(width * bits / 8));
  return raw > bytes.length * PNG_BYTES_PER_BYTE;
}

function readOtherHeader(bytes: Uint8Array, path?: string): ImageHeader {
  const suffix = sniffedSuffix(bytes) as keyof typeof OTHERS;
  if (!Object.hasOwn(OTHERS, suffix)) {
    throw new ImageError(
      "unsupported-image",
      "it is not a JPEG, PNG, WebP, AVIF, GIF or TIFF. Convert it first",
      { path },
    );
  }
  const [format, read] = OTHERS[suffix];
  const name = FORMAT_NAMES[format];
  const found: FoundHeader | undefined = read(viewOf(bytes));
  if (found === undefined) {
    throw new ImageError(
      "bad-image",
      `this ${name} has no valid header: it is truncated or damaged`,
      { path },
    );
  }
  const { height, width, channels, hasAlpha, isCmyk, unsupported } = found;
  if (unsupported !== undefined) {
    throw new ImageError(
      "unsupported-image",
      `this ${name} has ${unsupported}, which is unsupported. Convert it first`,
      { path },
    );
  }
  return { format, height, width, channels, hasAlpha, isCmyk };
}

function readJpegHeader(bytes: Uint8Array, path?: string): ImageHeader {
  const view = viewOf(bytes);
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) break;
    const code = bytes[at + 1]!;
    if (code === 0xff) {
      at++;
    } else if (code === 0x01 || code >= 0xd0 && code <= 0xd7) {
      at += 2;
    } else if (code === 0xd9 || code === 0xda) {
      break;
    } else if (isFrameHeader(code)) {
      if (at + 10 > bytes.length) break;
      return jpegFrame(view, at + 4, path);
    } else {
      at += 2 + view.getUint16(at + 2);
    }
  }
  throw new ImageError(
    "bad-image",
    "this JPEG has no frame header: it is truncated or damaged",
    { path, offset: Math.min(at, bytes.length) },
  );
}

function jpegFrame(view: DataView, at: number, path?: string): ImageHeader {
  const components = view.getUint8(at + 5);
  if (view.getUint8(at) !== 8 || ![1, 3, 4].includes(components)) {
    throw new ImageError(
      "unsupported-image",
      `this JPEG has ${view.getUint8(at)} bits and ${components} ` +
        "components, which is unsupported: only 8 bits and 1, 3 or 4 components are read",
      { path, offset: at },
    );
  }
  return {
    format: "jpeg",
    height: view.getUint16(at + 1),
    width: view.getUint16(at + 3),
    channels: components === 1 ? 1 : 3,
    hasAlpha: false,
    isCmyk: components === 4,
  };
}

/** Samples per pixel by IHDR's colour type; a palette index is one sample. */
function samplesOfColorType(type: number): number | undefined {
  return [1, undefined, 3, 1, 2, undefined, 4][type];
}

function readPngHeader(bytes: Uint8Array, path?: string): ImageHeader {
  const view = viewOf(bytes);
  const isWhole = bytes.length >= 33 && view.getUint32(8) === 13 &&
    view.getUint32(12) === 0x49484452; // IHDR
  if (!isWhole || samplesOfColorType(bytes[25]!) === undefined) {
    throw new ImageError("bad-image", "this PNG has no valid header", {
      path,
      offset: 8,
    });
  }
  const isGray = bytes[25] === 0 || bytes[25] === 4;
  return {
    format: "png",
    height: view.getUint32(20),
    width: view.getUint32(16),
    channels: isGray ? 1 : 3,
    hasAlpha: bytes[25] === 4 || bytes[25] === 6,
    isCmyk: false,
  };
}
