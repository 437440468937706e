/** Fractional bits of a weight, as in `pixels.as`: 8 bits of value and 2 of headroom are left of 32. */
const PRECISION = 22;

/** Of these, the bits that a weight's low half has. */
const LOW_BITS = 8;

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
  /**
   * `stride` weights for each, an even number, in fixed point and pairs: the high halves of two weights, then their
   * low halves. What is behind the last is 0.
   */
  readonly weights: Int16Array<ArrayBuffer>;
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
  const stride = Math.ceil(radius) * 2 + 2;
  const base = Math.floor(start);
  const most = Math.min(Math.ceil(start + length), available) - base;
  const spans = new Uint32Array(count * 2);
  const weights = new Int16Array(count * stride * 2);
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
      const share = exact[k]! / total;
      const weight = Math.trunc(share * (1 << PRECISION) + 0.5);
      const at = i * stride * 2 + (k >> 1) * 4 + (k & 1);
      weights[at] = weight >> LOW_BITS;
      weights[at + 2] = weight & (1 << LOW_BITS) - 1;
    }
    spans[i * 2] = base + begin;
    spans[i * 2 + 1] = n;
  }
  const from = spans[0]!;
  const to = spans[count * 2 - 2]! + spans[count * 2 - 1]!;
  for (let i = 0; i < count * 2; i += 2) spans[i]! -= from;
  return { from, to, spans, weights, stride };
}
