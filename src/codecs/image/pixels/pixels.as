// Resampling and packing of pixels, in AssemblyScript; `test/support/compile_pixels.ts` makes `pixels_wasm.ts` of it.
//
// A pixel has four bytes, the last of which is of no use, so that one load has one pixel. Sums are those of
// Pillow's ImagingResample, in the same fixed point: 22 fractional bits, and each pass is rounded to bytes.
// All that is read beyond the end of a row has a weight of 0 or is overwritten: memory ends some bytes later.

const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);

/**
 * Makes rows of `width` pixels: pixel x is the sum of `counts[x]` pixels from the byte `starts[x]` of its row on.
 * `table` has start and count of each, then come `stride` weights of each.
 */
export function columns(from: usize, pitch: usize, rows: i32, to: usize, toPitch: usize, width: i32, table: usize, stride: usize): void {
  const half = i32x4.splat(HALF);
  const spread = i8x16(0, 16, 16, 16, 1, 16, 16, 16, 2, 16, 16, 16, 3, 16, 16, 16);
  const weights = table + (<usize>width << 3);
  for (let y = 0; y < rows; y++) {
    let row = weights;
    for (let x = 0; x < width; x++) {
      let at = from + <usize>load<u32>(table + (<usize>x << 3));
      const end = at + (<usize>load<u32>(table + (<usize>x << 3), 4) << 2);
      let sum = half;
      let weight = row;
      while (at < end) {
        const pixel = i8x16.swizzle(v128.load32_zero(at), spread);
        sum = i32x4.add(sum, i32x4.mul(pixel, v128.load32_splat(weight)));
        at += 4;
        weight += 4;
      }
      const words = i16x8.narrow_i32x4_s(i32x4.shr_s(sum, PRECISION), sum);
      v128.store32_lane(to + (<usize>x << 2), i8x16.narrow_i16x8_u(words, words), 0);
      row += stride << 2;
    }
    from += pitch;
    to += toPitch;
  }
}

/** Makes `rows` rows of `length` bytes: each is the sum of `counts[y]` rows from row `starts[y]` on. */
export function rows(from: usize, pitch: usize, to: usize, toPitch: usize, length: usize, rows: i32, table: usize, stride: usize): void {
  const half = i32x4.splat(HALF);
  const first = i8x16(0, 16, 16, 16, 1, 16, 16, 16, 2, 16, 16, 16, 3, 16, 16, 16);
  const second = i8x16(4, 16, 16, 16, 5, 16, 16, 16, 6, 16, 16, 16, 7, 16, 16, 16);
  const third = i8x16(8, 16, 16, 16, 9, 16, 16, 16, 10, 16, 16, 16, 11, 16, 16, 16);
  const fourth = i8x16(12, 16, 16, 16, 13, 16, 16, 16, 14, 16, 16, 16, 15, 16, 16, 16);
  let weights = table + (<usize>rows << 3);
  for (let y = 0; y < rows; y++) {
    const top = from + <usize>load<u32>(table + (<usize>y << 3)) * pitch;
    const end = weights + (<usize>load<u32>(table + (<usize>y << 3), 4) << 2);
    for (let x: usize = 0; x < length; x += 16) {
      let a = half, b = half, c = half, d = half;
      let at = top + x;
      for (let weight = weights; weight < end; weight += 4) {
        const w = v128.load32_splat(weight);
        const pixels = v128.load(at);
        a = i32x4.add(a, i32x4.mul(i8x16.swizzle(pixels, first), w));
        b = i32x4.add(b, i32x4.mul(i8x16.swizzle(pixels, second), w));
        c = i32x4.add(c, i32x4.mul(i8x16.swizzle(pixels, third), w));
        d = i32x4.add(d, i32x4.mul(i8x16.swizzle(pixels, fourth), w));
        at += pitch;
      }
      const low = i16x8.narrow_i32x4_s(i32x4.shr_s(a, PRECISION), i32x4.shr_s(b, PRECISION));
      const high = i16x8.narrow_i32x4_s(i32x4.shr_s(c, PRECISION), i32x4.shr_s(d, PRECISION));
      v128.store(to + x, i8x16.narrow_i16x8_u(low, high));
    }
    weights += stride << 2;
    to += toPitch;
  }
}

/** Pixels of three bytes or one, made of pixels of four; `isFlipped`, from right to left. */
export function packBytes(from: usize, pitch: usize, height: i32, width: i32, channels: i32, isFlipped: bool, to: usize): void {
  const step: usize = isFlipped ? -16 : 16;
  let keep: v128;
  if (channels == 3) {
    keep = isFlipped
      ? i8x16(12, 13, 14, 8, 9, 10, 4, 5, 6, 0, 1, 2, 16, 16, 16, 16)
      : i8x16(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 16, 16, 16);
  } else {
    keep = isFlipped
      ? i8x16(12, 8, 4, 0, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16)
      : i8x16(0, 4, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16);
  }
  const group = <usize>channels << 2;
  for (let y = 0; y < height; y++) {
    let at = isFlipped ? from + (<usize>width << 2) - 16 : from;
    const end = to + <usize>(width * channels);
    for (; to < end; to += group) {
      v128.store(to, i8x16.swizzle(v128.load(at), keep));
      at += step;
    }
    to = end;
    from += pitch;
  }
}

/** Pixels of four bytes, made of pixels of three bytes or one. */
export function unpack(from: usize, pixels: i32, channels: i32, to: usize): void {
  const keep = channels == 3
    ? i8x16(0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16)
    : i8x16(0, 0, 0, 16, 1, 1, 1, 16, 2, 2, 2, 16, 3, 3, 3, 16);
  const group = <usize>channels << 2;
  for (const end = to + (<usize>pixels << 2); to < end; to += 16) {
    v128.store(to, i8x16.swizzle(v128.load(from), keep));
    from += group;
  }
}
