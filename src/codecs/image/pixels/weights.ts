/** Fractional bits of a weight, as in `pixels.as`: 8 bits of value and 2 of headroom are left of 32. */
const PRECISION = 22;

/** What of an edge is scaled to what, in pixels. */
export interface Scaling {
  /** Where the part begins that is scaled. */
  readonly start: number;
  /** Its length. */
  readonly length: number;
  /** Length that it gets. */
  readonly scaled: number;
  /** Of that, the first position that is wanted. */
  readonly first: number;
  /** How many are. */
  readonly count: number;
}

/** For each position that is wanted, which ones before scaling count, and how much. */
export interface Weights {
  /** First position that counts anywhere. */
  readonly from: number;
  /** Position after the last that does. */
  readonly to: number;
  /** For each: the first position that counts, from `from` on, and the number of them. */
  readonly spans: Uint32Array<ArrayBuffer>;
  /** `stride` weights for each, in fixed point. */
  readonly weights: Int32Array<ArrayBuffer>;
  readonly stride: number;
}

/** Whether pixels stay as they are. */
export function isUnscaled({ start, length, scaled }: Scaling): boolean {
  return length === scaled && Number.isInteger(start);
}

/**
 * Weights of a triangle as wide as a pixel of the result, or as one before where that is wider: bilinear
 * interpolation that also averages when it shrinks, as Pillow's `BILINEAR` (`precompute_coeffs`).
 *
 * @param available The edge's length, where parts of pixels may be scaled.
 */
export function triangles(
  { start, length, scaled, first, count }: Scaling,
  available: number,
): Weights {
  const scale = length / scaled;
  const radius = Math.max(scale, 1);
  const stride = Math.ceil(radius) * 2 + 1;
  const base = Math.floor(start);
  const most = Math.min(Math.ceil(start + length), available) - base;
  const spans = new Uint32Array(count * 2);
  const weights = new Int32Array(count * stride);
  const exact = new Float64Array(stride);
  for (let i = 0; i < count; i++) {
    const center = (first + i + 0.5) * scale + (start - base);
    const begin = Math.max(0, Math.trunc(center - radius + 0.5));
    const n = Math.min(most, Math.trunc(center + radius + 0.5)) - begin;
    let total = 0;
    for (let k = 0; k < n; k++) {
      const distance = Math.abs((begin + k - center + 0.5) / radius);
      exact[k] = Math.max(0, 1 - distance);
      total += exact[k]!;
    }
    for (let k = 0; k < n; k++) {
      const weight = exact[k]! / total;
      weights[i * stride + k] = Math.trunc(weight * (1 << PRECISION) + 0.5);
    }
    spans[i * 2] = base + begin;
    spans[i * 2 + 1] = n;
  }
  const from = spans[0]!;
  const to = spans[count * 2 - 2]! + spans[count * 2 - 1]!;
  for (let i = 0; i < count * 2; i += 2) spans[i]! -= from;
  return { from, to, spans, weights, stride };
}
