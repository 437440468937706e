/** Fractional bits of a weight, as in `pixels.as`; of 32, 8 bits of value and 2 of headroom remain. */
const PRECISION = 22;

/** Bits in the low half of a weight. */
const LOW_BITS = 8;

/** Scaling along an edge, in pixels: `length` from `start` become `scaled`; `count` from `first` are wanted. */
export interface Scaling {
  readonly start: number;
  readonly length: number;
  readonly scaled: number;
  readonly first: number;
  readonly count: number;
}

/** Inputs that contribute to each wanted position, with weights; all are from `from` to `to` (exclusive). */
export interface Weights {
  readonly from: number;
  readonly to: number;
  /** Per wanted position: its first input position, relative to `from`, and the number of them. */
  readonly spans: Uint32Array<ArrayBuffer>;
  /**
   * `stride` fixed-point weights (an even number) per wanted position, in pairs: the high halves of two weights, then
   * their low halves. Unused weights are 0.
   */
  readonly weights: Int16Array<ArrayBuffer>;
  readonly stride: number;
}

/** Whether pixels stay unchanged. */
export function isUnscaled({ start, length, scaled }: Scaling): boolean {
  return length === scaled && Number.isInteger(start);
}

/**
 * Weights of a triangle filter whose radius is one pixel of the result or of the input, whichever is wider: bilinear
 * interpolation that averages when it shrinks, as Pillow's `BILINEAR` (`precompute_coeffs`).
 *
 * @param available Length of the whole edge; the scaled part may end within a pixel.
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
