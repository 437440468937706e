import { decodedBytes, inDecodeMemory } from "./decode_memory.ts";
import {
  type AlphaImage,
  assertImage,
  type Image,
  toColorspace,
} from "./image.ts";
import type { Eighths, ImageBackend } from "./image_backend.ts";
import type { ImageCodec } from "./image_codec.ts";
import {
  type ImageHeader,
  isPlainJpeg,
  readImageHeader,
} from "./image_header.ts";
import { jpegLength } from "./jpeg_scanner.ts";
import { PlannedImage } from "./pixels/planned_image.ts";
import { render, type Rendering, resized, resizing } from "./pixels/render.ts";
import { assertJpegSize, shortEdgeSize } from "./short_edge.ts";

type DecodeOptions = NonNullable<Parameters<ImageCodec["decode"]>[1]>;

/** GulpIO2's JPEG quality. */
const DEFAULT_QUALITY = 90;

/**
 * Pixel bytes above which images are decoded immediately, under the memory limit. Deferred decoding holds none of it,
 * but a thread decodes one such image at a time.
 */
const MOST_PLANNED = 64 * 1024 * 1024;

/**
 * Minimum ratio of a fraction's size to the wanted size. With 6, of 18 photographs of 2 to 9 megapixels, 16 differ from
 * a full decode by at most 3, and two by 4 or 5 in 1 of 700 values; with 4, four of them differ by up to 11.
 */
const MARGIN = 6;

/** Common part of all backends: sizes, colour spaces, and the memory limit of decoding. */
export class BackedCodec implements ImageCodec {
  readonly #backend: ImageBackend;

  constructor(backend: ImageBackend) {
    this.#backend = backend;
  }

  get name(): string {
    return this.#backend.name;
  }

  async decode(
    bytes: Uint8Array,
    options: DecodeOptions = {},
  ): Promise<Image> {
    const { colorspace = "ANY", shortEdge = 0, path } = options;
    const header = readImageHeader(bytes, path);
    const wanted = resizing(header, shortEdgeSize(header, shortEdge));
    const image = await this.#render(bytes, header, wanted, options);
    return toColorspace(image, colorspace);
  }

  /**
   * Like {@linkcode ImageCodec.decode}, but defers decoding until the pixels are used, when later steps have said which
   * are needed. `bytes` must stay unchanged until then.
   */
  async plan(
    bytes: Uint8Array,
    options: DecodeOptions = {},
  ): Promise<PlannedImage> {
    const { colorspace = "ANY", shortEdge = 0, exact, path } = options;
    const header = readImageHeader(bytes, path);
    const { height, width } = header;
    const { source } = this.#backend;
    // Colour that becomes gray must be gray before later steps scale it; large images wait for memory.
    const isPlanned = source !== undefined && isPlainJpeg(header) &&
      (colorspace !== "GRAY" || header.channels === 1) &&
      decodedBytes(header) <= MOST_PLANNED;
    if (!isPlanned) {
      return PlannedImage.of(await this.decode(bytes, options));
    }
    // Waits for room but does not hold it: deferred decoding is synchronous, one such image after the other.
    await inDecodeMemory(decodedBytes(header), () => {});
    const planned = new PlannedImage({
      height,
      width,
      channels: colorspace === "RGB" ? 3 : header.channels,
      open: (rendering) => {
        const eighths = exact ? 8 : eighthsFor(header, rendering);
        return source.call(this.#backend, bytes, header, eighths, path);
      },
    });
    const size = shortEdgeSize(header, shortEdge);
    return size === header ? planned : planned.scaled(size);
  }

  async #render(
    bytes: Uint8Array,
    header: ImageHeader,
    rendering: Rendering,
    { exact = false, path }: DecodeOptions,
  ): Promise<Image> {
    const eighths = exact ? 8 : eighthsFor(header, rendering);
    const taken = decodedBytes(header) * eighths ** 2 / 64;
    return await inDecodeMemory(taken, async () => {
      const made = this.#backend.pixels(bytes, header, eighths, path);
      return render(made instanceof Promise ? await made : made, rendering);
    });
  }

  async decodeWithAlpha(
    bytes: Uint8Array,
    path?: string,
  ): Promise<AlphaImage> {
    const header = readImageHeader(bytes, path);
    if (!header.hasAlpha) return await this.decode(bytes, { path });
    return await inDecodeMemory<AlphaImage>(
      decodedBytes(header),
      () => this.#backend.decodeAlpha(bytes, header, path),
    );
  }

  async encode(
    image: Image,
    quality: number = DEFAULT_QUALITY,
  ): Promise<Uint8Array<ArrayBuffer>> {
    assertImage(image);
    assertQuality(quality);
    assertJpegSize(image);
    return await this.#backend.encode(image, quality);
  }

  // deno-lint-ignore require-await -- so that all it throws is a rejection
  async resizeShortEdge(image: Image, size: number): Promise<Image> {
    assertImage(image);
    return resized(image, shortEdgeSize(image, size));
  }

  async jpegFromImageFile(
    bytes: Uint8Array,
    options: NonNullable<Parameters<ImageCodec["jpegFromImageFile"]>[1]> = {},
  ): Promise<Uint8Array> {
    const { shortEdge = 0, quality = DEFAULT_QUALITY, path } = options;
    assertQuality(quality);
    const header = readImageHeader(bytes, path);
    const size = shortEdgeSize(header, shortEdge);
    const isUnchanged = header.format === "jpeg" && !options.reencode &&
      size.height === header.height && size.width === header.width;
    const length = isUnchanged ? jpegLength(bytes) : undefined;
    if (length !== undefined) return bytes.subarray(0, length);
    assertJpegSize(size);
    const image = await this.#render(bytes, header, resizing(header, size), {
      path,
    });
    return await this.#backend.encode(image, quality);
  }
}

/** Smallest fraction of a JPEG's size, in eighths, that is enough. */
function eighthsFor(
  header: ImageHeader,
  { part, size }: Rendering,
): Eighths {
  if (!isPlainJpeg(header)) return 8;
  const enough = (eighths: number) =>
    part.height * eighths >= size.height * MARGIN * 8 &&
    part.width * eighths >= size.width * MARGIN * 8;
  return ([1, 2, 4] as const).find(enough) ?? 8;
}

/** @throws {RangeError} If `quality` is not a whole number from 1 to 100. */
function assertQuality(quality: number): void {
  if (Number.isInteger(quality) && quality >= 1 && quality <= 100) return;
  throw new RangeError(
    "The JPEG quality must be a whole number from 1 to 100, not " +
      `${quality}`,
  );
}
