import { withPixelMemory } from "./pixel_memory.ts";
import {
  packed,
  type PixelSource,
  putRendered,
  type Rendering,
} from "./render.ts";

export type Pixels = Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** Scale and offset per channel: value × factor + offset. */
export interface ChannelScales {
  readonly factors: readonly number[];
  readonly offsets: readonly number[];
}

export type ValueArray =
  | Uint8Array<ArrayBuffer>
  | Float16Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>;

/** Output positions of a picture: of the first value, and steps per pixel and per channel; rows have no gaps. */
export interface Strides {
  readonly start: number;
  readonly pixel: number;
  readonly channel: number;
}

/** Writes the values of decoded pixels in one pass. */
export function writeValues(
  pixels: Pixels,
  channels: 1 | 3,
  scales: ChannelScales,
  out: ValueArray,
  strides: Strides,
): void {
  if (channels === 1) writeGray(pixels, scales, out, strides);
  else writeRgb(pixels, scales, out, strides);
}

function writeGray(
  pixels: Pixels,
  { factors, offsets }: ChannelScales,
  out: ValueArray,
  { start, pixel }: Strides,
): void {
  const factor = factors[0]!;
  const offset = offsets[0]!;
  for (let from = 0, to = start; from < pixels.length; from++, to += pixel) {
    out[to] = pixels[from]! * factor + offset;
  }
}

function writeRgb(
  pixels: Pixels,
  { factors, offsets }: ChannelScales,
  out: ValueArray,
  { start, pixel, channel }: Strides,
): void {
  const [red, green, blue] = factors as [number, number, number];
  const [noRed, noGreen, noBlue] = offsets as [number, number, number];
  for (let from = 0, to = start; from < pixels.length; from += 3, to += pixel) {
    out[to] = pixels[from]! * red + noRed;
    out[to + channel] = pixels[from + 1]! * green + noGreen;
    out[to + 2 * channel] = pixels[from + 2]! * blue + noBlue;
  }
}

/** Values computed per step, few enough for the CPU cache. */
const BAND = 16_384;

/** Renders a source and writes its values, without an intermediate image. */
export function writeRendered(
  source: PixelSource,
  rendering: Rendering,
  scales: ChannelScales,
  out: ValueArray,
  strides: Strides,
): void {
  const { crop: { height, width }, isFlipped } = rendering;
  const { channels } = source;
  const { start, pixel, channel } = strides;
  withPixelMemory((memory) => {
    if (!(out instanceof Float32Array)) {
      const pixels = packed(source, rendering, memory);
      return writeValues(pixels, channels, scales, out, strides);
    }
    const { at, pitch } = putRendered(source, rendering, memory);
    const { planes, triples } = memory.functions;
    const row = width * channels;
    const rows = Math.max(1, Math.floor(BAND / row));
    const table = memory.take(48);
    const to = memory.take(rows * row * 4);
    const { buffer } = memory.bytes;
    const numbers = new Float64Array(buffer, table, 6);
    numbers.set(scales.factors.slice(0, channels));
    numbers.set(scales.offsets.slice(0, channels), 3);
    for (let y = 0; y < height; y += rows) {
      const count = Math.min(rows, height - y);
      const from = at + y * pitch;
      if (pixel === 1) {
        planes(from, pitch, count, width, channels, isFlipped, table, to);
        const plane = count * width;
        for (let c = 0; c < channels; c++) {
          const values = new Float32Array(buffer, to + c * plane * 4, plane);
          out.set(values, start + c * channel + y * width);
        }
      } else {
        triples(from, pitch, count, width, isFlipped, table, to);
        out.set(new Float32Array(buffer, to, count * row), start + y * row);
      }
    }
  });
}
