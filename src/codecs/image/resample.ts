import type { Image } from "./image.ts";
import type { Size } from "./short_edge.ts";

/** Fractional bits of a weight: 8 bits of value and 2 of headroom are left of 32. */
const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);

/** For each output position, which input positions count, and how much. */
interface Weights {
  /** First input position. */
  readonly first: Int32Array;
  /** Their number. */
  readonly count: Int32Array;
  /** Weights, `stride` of them for each output position, in fixed point. */
  readonly weights: Int32Array;
  readonly stride: number;
}

/**
 * Resizes by a triangle as wide as an output pixel, or as an input pixel where that is wider:
 * bilinear interpolation that also averages when it shrinks, as Pillow's `BILINEAR` does, in the
 * same fixed point. The weights of very many pixels may add up to a little more than 1, rounded as
 * they are; hence `Math.min`.
 */
export function resample(image: Image, size: Size): Image {
  return resampleRows(resampleColumns(image, size.width), size.height);
}

function resampleColumns(image: Image, width: number): Image {
  if (width === image.width) return image;
  const { data, height, channels } = image;
  const { first, count, weights, stride } = triangles(image.width, width);
  const out = new Uint8Array(height * width * channels);
  const isRgb = channels === 3;
  let to = 0;
  for (let y = 0; y < height; y++) {
    const row = y * image.width * channels;
    for (let x = 0; x < width; x++) {
      let from = row + first[x]! * channels;
      let k = x * stride;
      const end = k + count[x]!;
      let [red, green, blue] = [HALF, HALF, HALF]; // gray has red only
      for (; k < end; k++) {
        const weight = weights[k]!;
        red += data[from++]! * weight;
        if (isRgb) {
          green += data[from++]! * weight;
          blue += data[from++]! * weight;
        }
      }
      out[to++] = Math.min(red >> PRECISION, 255);
      if (isRgb) {
        out[to++] = Math.min(green >> PRECISION, 255);
        out[to++] = Math.min(blue >> PRECISION, 255);
      }
    }
  }
  return { data: out, height, width, channels };
}

function resampleRows(image: Image, height: number): Image {
  if (height === image.height) return image;
  const { data, width, channels } = image;
  const { first, count, weights, stride } = triangles(image.height, height);
  const length = width * channels;
  const out = new Uint8Array(height * length);
  const sums = new Int32Array(length);
  for (let y = 0; y < height; y++) {
    sums.fill(HALF);
    for (let k = 0; k < count[y]!; k++) {
      const weight = weights[y * stride + k]!;
      const row = (first[y]! + k) * length;
      for (let i = 0; i < length; i++) sums[i]! += data[row + i]! * weight;
    }
    const to = y * length;
    for (let i = 0; i < length; i++) {
      out[to + i] = Math.min(sums[i]! >> PRECISION, 255);
    }
  }
  return { data: out, height, width, channels };
}

function triangles(from: number, to: number): Weights {
  const scale = from / to;
  const radius = Math.max(scale, 1);
  const stride = Math.ceil(radius) * 2 + 1;
  const first = new Int32Array(to);
  const count = new Int32Array(to);
  const weights = new Int32Array(to * stride);
  const exact = new Float64Array(stride);
  for (let i = 0; i < to; i++) {
    const center = (i + 0.5) * scale;
    const start = Math.max(0, Math.trunc(center - radius + 0.5));
    const n = Math.min(from, Math.trunc(center + radius + 0.5)) - start;
    let total = 0;
    for (let k = 0; k < n; k++) {
      const distance = Math.abs((start + k - center + 0.5) / radius);
      exact[k] = Math.max(0, 1 - distance);
      total += exact[k]!;
    }
    for (let k = 0; k < n; k++) {
      const weight = exact[k]! / total;
      weights[i * stride + k] = Math.trunc(weight * (1 << PRECISION) + 0.5);
    }
    first[i] = start;
    count[i] = n;
  }
  return { first, count, weights, stride };
}
