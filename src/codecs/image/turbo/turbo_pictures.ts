import type { Image } from "../image.ts";
import type { Eighths } from "../image_backend.ts";
import { ImageError } from "../image_error.ts";
import type { ImageHeader } from "../image_header.ts";
import type { Box, PixelSource } from "../pixels/render.ts";
import type { Size } from "../short_edge.ts";
import type { TurboJpeg } from "./load_turbojpeg.ts";

// Constants of turbojpeg.h.
const COMPRESS = 0;
const DECOMPRESS = 1;
const STOP_ON_WARNING = 0;
const NO_REALLOC = 2;
const QUALITY = 3;
const SUBSAMPLING = 4;
const SCAN_LIMIT = 13;
const RGB = 0;
const RGBX = 2;
const GRAY = 6;
const SUBSAMPLING_NONE = 0;
const SUBSAMPLING_GRAY = 3;

/** MCU width in pixels by subsampling number; cropping regions start at a multiple. */
const UNIT_WIDTHS = [8, 16, 16, 8, 8, 32, 8];

/** Limit of scans in a progressive JPEG, each of which costs a pass; the same as in libjpeg-turbo's fuzzers. */
const MOST_SCANS = 500;

/** libturbojpeg decoder and encoder, for one picture at a time. */
export class TurboPictures {
  readonly #library: TurboJpeg;
  readonly #encoder: Deno.PointerValue;
  #decoder: Deno.PointerValue;
  #encoded = new Uint8Array(0);

  constructor(library: TurboJpeg) {
    this.#library = library;
    this.#decoder = newDecoder(library);
    this.#encoder = library.tj3Init(COMPRESS);
    library.tj3Set(this.#encoder, NO_REALLOC, 1);
  }

  /** Returns a JPEG, which must not be CMYK, as a source of pixels that is decoded when and where needed. */
  source(
    jpeg: Uint8Array,
    header: ImageHeader,
    eighths: Eighths,
    path: string | undefined,
  ): PixelSource {
    const scaled = (edge: number) => Math.ceil(edge * eighths / 8);
    const [height, width] = [scaled(header.height), scaled(header.width)];
    const all = { top: 0, left: 0, height, width };
    const begin = () => this.#begin(jpeg, eighths, path);
    const decode = (
      box: Box,
      into: Uint8Array<ArrayBuffer>,
      pitch: number,
      format: number,
    ) => this.#decode(jpeg, box, { into, pitch, format }, path);
    return {
      height,
      width,
      channels: header.channels,
      fraction: eighths / 8,
      put(region, memory) {
        const unit = begin();
        const box = unit === undefined
          ? all
          : widened(region, all, unit * eighths / 8);
        const pitch = box.width * 4;
        const length = pitch * box.height;
        const to = memory.take(length);
        decode(box, memory.bytes.subarray(to, to + length), pitch, RGBX);
        const down = region.top - box.top;
        const right = region.left - box.left;
        return { at: to + down * pitch + right * 4, pitch };
      },
      whole(channels) {
        begin();
        const pitch = width * channels;
        const data = new Uint8Array(pitch * height);
        decode(all, data, pitch, channels === 1 ? GRAY : RGB);
        return { data, height, width, channels };
      },
    };
  }

  /** Reads a JPEG's header, and returns its MCU width in pixels, if known. */
  #begin(
    jpeg: Uint8Array,
    eighths: Eighths,
    path: string | undefined,
  ): number | undefined {
    const library = this.#library;
    const decoder = this.#decoder;
    const size = BigInt(jpeg.length);
    this.#check(library.tj3DecompressHeader(decoder, jpeg, size), path);
    const factor = ints(1, 8 / eighths);
    this.#check(library.tj3SetScalingFactor(decoder, factor), path);
    return UNIT_WIDTHS[library.tj3Get(decoder, SUBSAMPLING)];
  }

  #decode(
    jpeg: Uint8Array,
    { left, top, width, height }: Box,
    { into, pitch, format }: {
      into: Uint8Array<ArrayBuffer>;
      pitch: number;
      format: number;
    },
    path: string | undefined,
  ): void {
    const library = this.#library;
    const decoder = this.#decoder;
    const region = ints(left, top, width, height);
    this.#check(library.tj3SetCroppingRegion(decoder, region), path);
    const size = BigInt(jpeg.length);
    const status = library.tj3Decompress8(
      ...[decoder, jpeg, size, into, pitch, format] as const,
    );
    this.#check(status, path);
  }

  #check(status: number, path: string | undefined): void {
    if (status !== 0) throw this.#damage(path);
  }

  encode(
    { data, height, width, channels }: Image,
    quality: number,
  ): Uint8Array<ArrayBuffer> {
    const library = this.#library;
    const encoder = this.#encoder;
    const isGray = channels === 1;
    const subsampling = isGray ? SUBSAMPLING_GRAY : SUBSAMPLING_NONE;
    library.tj3Set(encoder, QUALITY, quality);
    library.tj3Set(encoder, SUBSAMPLING, subsampling);
    const most = Number(library.tj3JPEGBufSize(width, height, subsampling));
    if (this.#encoded.length < most) this.#encoded = new Uint8Array(most);
    const place = Deno.UnsafePointer.value(
      Deno.UnsafePointer.of(this.#encoded),
    );
    const size = BigUint64Array.of(BigInt(this.#encoded.length));
    const status = library.tj3Compress8(
      ...[encoder, data, width, width * channels, height] as const,
      ...[isGray ? GRAY : RGB, BigUint64Array.of(place), size] as const,
    );
    if (status !== 0) throw failure(library, encoder, undefined);
    return this.#encoded.slice(0, Number(size[0]));
  }

  /** Returns the error and replaces the decoder, which retains tables of a damaged JPEG that make the next one fail. */
  #damage(path: string | undefined): ImageError {
    const library = this.#library;
    const error = failure(library, this.#decoder, path);
    library.tj3Destroy(this.#decoder);
    this.#decoder = newDecoder(library);
    return error;
  }
}

function newDecoder(library: TurboJpeg): Deno.PointerValue {
  const decoder = library.tj3Init(DECOMPRESS);
  library.tj3Set(decoder, STOP_ON_WARNING, 1);
  library.tj3Set(decoder, SCAN_LIMIT, MOST_SCANS);
  return decoder;
}

function failure(
  library: TurboJpeg,
  handle: Deno.PointerValue,
  path: string | undefined,
): ImageError {
  const text = library.tj3GetErrorStr(handle);
  const reason = text === null
    ? "it fails"
    : Deno.UnsafePointerView.getCString(text);
  return new ImageError("bad-image", `libturbojpeg: ${reason}`, { path });
}

/**
 * Extends a region by the reach of chroma upsampling, to a valid left edge, and down to the picture's last row: rows
 * below would otherwise not be decoded, nor damage in them detected.
 */
function widened(
  { top, left, width }: Box,
  all: Size,
  unit: number,
): Box {
  const step = Math.max(1, unit);
  const from = Math.max(0, Math.floor(left / step) - 1) * step;
  const to = Math.min(all.width, left + width + step);
  const first = Math.max(0, top - step);
  return {
    top: first,
    left: from,
    height: all.height - first,
    width: to - from,
  };
}

/** C struct of 32-bit integers. */
function ints(...values: number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.from(values).buffer);
}
