import { PACKAGES } from "../../base/packages.ts";
import { inDecodeMemory } from "./decode_memory.ts";
import { ImageError } from "./image_error.ts";
import { MAX_PIXELS } from "./image_header.ts";
import {
  bytesOf,
  firstReason,
  loadSharp,
  type Pipeline,
  type SharpFactory,
  withKnownBrand,
} from "./sharp_backend.ts";

type Metadata = Awaited<ReturnType<Pipeline["metadata"]>>;
type ReadExif = typeof import("exif-reader");

export interface Thumbnail {
  readonly type: "image/jpeg" | "image/webp";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const JPEG_QUALITY = 72;
/** For pictures with alpha, which JPEG lacks. */
const WEBP = { quality: 75, alphaQuality: 90, effort: 2 } as const;

/** Time limit of libvips per picture, in seconds. */
const TIMEOUT = 20;

/** Tolerated difference in aspect ratio of an embedded picture: cameras add bars to fill 4:3. */
const ASPECT_TOLERANCE = 0.02;

/** Bytes of a JPEG's Exif block before its TIFF header (CIPA DC-008, 4.7.2). */
const EXIF_PREFIX = 6;

/** Inverse of each EXIF orientation: mirror first, then rotate clockwise by degrees (CIPA DC-008, tag 0x0112). */
const ORIENTATIONS: Readonly<Record<number, readonly [boolean, number]>> = {
  2: [true, 0],
  3: [false, 180],
  4: [true, 180],
  5: [true, 270],
  6: [false, 90],
  7: [true, 90],
  8: [false, 270],
};

/** Makes thumbnails with npm's sharp, on libvips threads; needs `--allow-ffi`, `--allow-env` and `--allow-read`. */
export class Thumbnailer {
  readonly #sharp: SharpFactory;
  readonly #readExif: ReadExif;

  private constructor(sharp: SharpFactory, readExif: ReadExif) {
    this.#sharp = sharp;
    this.#readExif = readExif;
  }

  /** @throws If the platform has no build of a package, or a permission is missing. */
  static async load(): Promise<Thumbnailer> {
    const sharp = await loadSharp();
    const exif: { readonly default: ReadExif } = await import(
      PACKAGES.exifReader
    );
    return new Thumbnailer(sharp, exif.default);
  }

  /**
   * Makes a thumbnail: upright, in sRGB, without metadata.
   *
   * @param picture A whole file. The caller must ensure that it is a JPEG, PNG, GIF, WebP, AVIF or TIFF: other formats
   * of libvips may refer to further files.
   * @param edge Longer side in pixels; smaller pictures keep their size.
   * @throws {ImageError} If the picture is damaged or too large.
   */
  async make(picture: Uint8Array, edge: number): Promise<Thumbnail> {
    const opened = this.#open(picture);
    const facts = await metadataOf(opened);
    const memory = decodeMemory(facts);
    return await inDecodeMemory(
      memory,
      async () =>
        await this.#ofEmbedded(facts, edge) ??
          await encode(opened.autoOrient(), facts, edge),
    );
  }

  /**
   * Decodes a whole picture, only to detect errors: a thumbnail may come from an embedded picture, or not need the last
   * row.
   *
   * @param picture See {@linkcode make}.
   * @throws {ImageError} If the picture is damaged or too large.
   */
  async verify(picture: Uint8Array): Promise<void> {
    const opened = this.#open(picture);
    const facts = await metadataOf(opened);
    const { width, height } = facts;
    // libvips decodes the rows above too, but retains few of them.
    const row = opened.extract({ left: 0, top: height - 1, width, height: 1 });
    await inDecodeMemory(decodeMemory(facts), () => outputOf(row.raw()));
  }

  /** Makes a thumbnail of a camera's embedded picture if it is sound, has the same aspect ratio and is large enough. */
  async #ofEmbedded(
    { exif, width, height, orientation = 1 }: Metadata,
    edge: number,
  ): Promise<Thumbnail | undefined> {
    if (exif === undefined) return undefined;
    try {
      const { Thumbnail: tags } = this.#readExif(exif);
      const start = tags?.JPEGInterchangeFormat;
      const length = tags?.JPEGInterchangeFormatLength;
      if (typeof start !== "number" || typeof length !== "number") {
        return undefined;
      }
      const at = EXIF_PREFIX + start;
      const jpeg = exif.subarray(at, at + length);
      const small = await this.#open(jpeg).metadata();
      const isSame = Math.abs(small.width / small.height * height / width - 1) <
        ASPECT_TOLERANCE;
      if (small.format !== "jpeg" || !isSame) return undefined;
      if (Math.max(small.width, small.height) < edge) return undefined;
      const [isMirrored, angle] = ORIENTATIONS[orientation] ?? [false, 0];
      const upright = this.#open(jpeg).flop(isMirrored).rotate(angle);
      return await encode(upright, small, edge);
    } catch {
      return undefined; // the picture itself may be sound
    }
  }

  #open(picture: Uint8Array): Pipeline {
    return this.#sharp(withKnownBrand(picture), {
      failOn: "error",
      limitInputPixels: MAX_PIXELS,
    }).timeout({ seconds: TIMEOUT });
  }
}

async function metadataOf(opened: Pipeline): Promise<Metadata> {
  try {
    return await opened.metadata();
  } catch (cause) {
    throw badImage(cause);
  }
}

async function encode(
  opened: Pipeline,
  { hasAlpha }: Metadata,
  edge: number,
): Promise<Thumbnail> {
  const resized = opened.resize({
    width: edge,
    height: edge,
    fit: "inside",
    withoutEnlargement: true,
  });
  const encoded = hasAlpha
    ? resized.webp(WEBP)
    : resized.jpeg({ quality: JPEG_QUALITY });
  const bytes = await outputOf(encoded);
  return { type: hasAlpha ? "image/webp" : "image/jpeg", bytes };
}

async function outputOf(pipeline: Pipeline): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await bytesOf(pipeline);
  } catch (cause) {
    throw badImage(cause);
  }
}

/** Upper bound of decoding's bytes: libjpeg-turbo decodes at 1/8 unless it needs all coefficients first. */
function decodeMemory(facts: Metadata): number {
  const { format, width, height, isProgressive, depth } = facts;
  const sample = depth === "uchar" ? 1 : depth === "ushort" ? 2 : 4;
  const full = width * height * 4 * sample;
  return format === "jpeg" && !isProgressive ? full / 8 : full;
}

function badImage(cause: unknown): ImageError {
  const { message } = cause as Error;
  const isTooLarge = /pixel limit/.test(message);
  return new ImageError(
    isTooLarge ? "image-too-large" : "bad-image",
    isTooLarge
      ? `it has more than ${MAX_PIXELS} pixels`
      : `sharp: ${firstReason(cause)}`,
    { cause },
  );
}
