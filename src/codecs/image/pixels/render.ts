import type { Image } from "../image.ts";
import type { Size } from "../short_edge.ts";
import { type PixelMemory, withPixelMemory } from "./pixel_memory.ts";
import {
  isUnscaled,
  type Scaling,
  triangles,
  type Weights,
} from "./weights.ts";

/** Rectangle of a picture, in pixels. */
export interface Box extends Size {
  readonly top: number;
  readonly left: number;
}

/** Transformation in one pass: scales `part` to `size`, takes `crop` of the result, mirrors it if `isFlipped`. */
export interface Rendering {
  readonly part: Box;
  readonly size: Size;
  readonly crop: Box;
  readonly isFlipped: boolean;
}

/** Pixels that can be loaded into memory. */
export interface PixelSource extends Size {
  readonly channels: 1 | 3;
  /** Scale relative to the picture: 1 unless it is decoded at a fraction of its size. */
  readonly fraction: number;
  /**
   * Loads the pixels of `region`, a part of the picture at that fraction, into memory, four bytes each; may load more.
   *
   * @returns Offset of the region's first pixel, and the distance between rows in bytes.
   */
  put(region: Box, memory: PixelMemory): { at: number; pitch: number };
  /** Returns the whole picture with that many channels, if it exists or can be decoded directly. */
  whole(channels: 1 | 3): Image | undefined;
}

/** Rendering that only resizes the whole picture. */
export function resizing(from: Size, { height, width }: Size): Rendering {
  const part = { top: 0, left: 0, height: from.height, width: from.width };
  const crop = { top: 0, left: 0, height, width };
  return { part, size: crop, crop, isFlipped: false };
}

export function resized(image: Image, size: Size): Image {
  const isSame = size.height === image.height && size.width === image.width;
  return isSame ? image : render(imageSource(image), resizing(image, size));
}

/** Renders an image; returns the source's own if nothing changes. */
export function render(source: PixelSource, rendering: Rendering): Image {
  const { height, width } = rendering.crop;
  const { channels } = source;
  const whole = isWhole(source, rendering) ? source.whole(channels) : undefined;
  if (whole !== undefined) return whole;
  return withPixelMemory((memory) => {
    const data = packed(source, rendering, memory).slice();
    return { data, height, width, channels };
  });
}

/** Renders pixels into memory, with one byte per channel. */
export function packed(
  source: PixelSource,
  rendering: Rendering,
  memory: PixelMemory,
): Uint8Array<ArrayBuffer> {
  const { crop: { height, width }, isFlipped } = rendering;
  const { channels } = source;
  const { at, pitch } = putRendered(source, rendering, memory);
  const length = height * width * channels;
  const to = memory.take(length);
  const { packBytes } = memory.functions;
  packBytes(at, pitch, height, width, channels, isFlipped, to);
  return memory.bytes.subarray(to, to + length);
}

/** Whether nothing is scaled, cropped or flipped: a part as large as the whole source is the whole source. */
function isWhole(
  { height, width, fraction }: PixelSource,
  { part, size, crop, isFlipped }: Rendering,
): boolean {
  return fraction === 1 && !isFlipped &&
    [part, size, crop].every((one) =>
      one.height === height && one.width === width
    );
}

/** Renders pixels into memory, four bytes each, without flipping. */
export function putRendered(
  source: PixelSource,
  { part, size, crop }: Rendering,
  memory: PixelMemory,
): { at: number; pitch: number } {
  const { fraction } = source;
  const across: Scaling = {
    start: part.left * fraction,
    length: part.width * fraction,
    scaled: size.width,
    first: crop.left,
    count: crop.width,
  };
  const down: Scaling = {
    start: part.top * fraction,
    length: part.height * fraction,
    scaled: size.height,
    first: crop.top,
    count: crop.height,
  };
  const [x, y] = [spanOf(across, source.width), spanOf(down, source.height)];
  const region = {
    left: x.from,
    top: y.from,
    width: x.to - x.from,
    height: y.to - y.from,
  };
  let { at, pitch } = source.put(region, memory);
  const length = crop.width * 4;
  const own = Math.ceil(length / 16) * 16;
  if ("weights" in x) {
    const table = putTable(x, memory, 4);
    const to = memory.take(own * region.height);
    const { columns } = memory.functions;
    columns(at, pitch, region.height, to, own, crop.width, table, x.stride);
    [at, pitch] = [to, own];
  }
  if ("weights" in y) {
    const table = putTable(y, memory, 1);
    const to = memory.take(own * crop.height);
    const { rows } = memory.functions;
    rows(at, pitch, to, own, length, crop.height, table, y.stride);
    [at, pitch] = [to, own];
  }
  return { at, pitch };
}

function spanOf(
  scaling: Scaling,
  available: number,
): Weights | { readonly from: number; readonly to: number } {
  if (!isUnscaled(scaling)) return triangles(scaling, available);
  const from = scaling.start + scaling.first;
  return { from, to: from + scaling.count };
}

/** Copies spans and weights into memory; `unit` is the bytes or rows per position. */
function putTable(
  { spans, weights }: Weights,
  memory: PixelMemory,
  unit: number,
): number {
  const at = memory.take(spans.byteLength + weights.byteLength);
  const { buffer } = memory.bytes;
  const table = new Uint32Array(buffer, at, spans.length);
  for (let i = 0; i < spans.length; i += 2) {
    table[i] = spans[i]! * unit;
    table[i + 1] = spans[i + 1]!;
  }
  new Int16Array(buffer, at + spans.byteLength, weights.length).set(weights);
  return at;
}

/** Pixels unpacked per step, so that a large image needs only its unpacked copy in memory, not a packed one too. */
const UNPACKED = 65_536;

export function imageSource(image: Image): PixelSource {
  const { data, height, width, channels } = image;
  return {
    height,
    width,
    channels,
    fraction: 1,
    put({ top, left, ...region }, memory) {
      const start = (top * width + left) * channels;
      const end = ((top + region.height - 1) * width + left + region.width) *
        channels;
      const pixels = (end - start) / channels;
      const raw = memory.take(Math.min(pixels, UNPACKED) * channels);
      const at = memory.take(pixels * 4);
      for (let done = 0; done < pixels; done += UNPACKED) {
        const from = start + done * channels;
        const count = Math.min(UNPACKED, pixels - done);
        memory.bytes.set(data.subarray(from, from + count * channels), raw);
        memory.functions.unpack(raw, count, channels, at + done * 4);
      }
      return { at, pitch: width * 4 };
    },
    whole: (wanted) => wanted === channels ? image : undefined,
  };
}
