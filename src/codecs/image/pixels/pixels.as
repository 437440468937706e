// Resampling and packing of pixels, in AssemblyScript; `test/support/compile_pixels.ts` makes `pixels_wasm.ts` of it.
//
// A pixel has four bytes, the last of which is of no use, so that one load has one pixel. Sums are those of
// Pillow's ImagingResample, in the same fixed point: 22 fractional bits, and each pass is rounded to bytes.
// All that is read beyond the end of a row has a weight of 0 or is overwritten: memory ends some bytes later.

const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);

// A weight is `high << LOW_BITS | low`, so that products of 16 bits are summed up by two, which processors do at once.
const LOW_BITS = 8;

/** Sums in fixed point as bytes, which they are rounded to. */
// @ts-ignore: decorator
@inline
function rounded(high: v128, low: v128): v128 {
  const sum = i32x4.add(i32x4.shl(high, LOW_BITS), low);
  return i32x4.shr_s(i32x4.add(sum, i32x4.splat(HALF)), PRECISION);
}

/** Two sums in fixed point as a pixel. */
// @ts-ignore: decorator
@inline
function storePixel(to: usize, high: v128, low: v128): void {
  const sum = rounded(high, low);
  const words = i16x8.narrow_i32x4_s(sum, sum);
  v128.store32_lane(to, i8x16.narrow_i16x8_u(words, words), 0);
}

/**
 * Makes rows of `width` pixels: pixel x is the sum of `counts[x]` pixels from the byte `starts[x]` of its row on.
 * `table` has start and count of each, then come `stride` weights of each, in pairs.
 */
export function columns(from: usize, pitch: usize, rows: i32, to: usize, toPitch: usize, width: i32, table: usize, stride: usize): void {
  const pair = i8x16(0, 16, 4, 16, 1, 16, 5, 16, 2, 16, 6, 16, 3, 16, 7, 16);
  const weights = table + (<usize>width << 3);
  // Four rows at a time, so that each weight is loaded once for four pixels; rows that there are not are the first.
  for (let left = rows; left > 0; left -= 4) {
    const pitchB = left > 1 ? pitch : 0, toB = left > 1 ? to + toPitch : to;
    const pitchC = left > 2 ? pitch << 1 : 0, toC = left > 2 ? toB + toPitch : to;
    const pitchD = left > 3 ? pitchC + pitch : 0, toD = left > 3 ? toC + toPitch : to;
    let row = weights;
    for (let x: usize = 0, last = <usize>width << 2; x < last; x += 4) {
      let at = from + <usize>load<u32>(table + (x << 1));
      const end = at + (<usize>load<u32>(table + (x << 1), 4) << 2);
      let highA = i32x4.splat(0), highB = highA, highC = highA, highD = highA;
      let lowA = highA, lowB = highA, lowC = highA, lowD = highA;
      for (let weight = row; at < end; weight += 8) {
        const high = v128.load32_splat(weight);
        const low = v128.load32_splat(weight, 4);
        const a = i8x16.swizzle(v128.load64_zero(at), pair);
        const b = i8x16.swizzle(v128.load64_zero(at + pitchB), pair);
        const c = i8x16.swizzle(v128.load64_zero(at + pitchC), pair);
        const d = i8x16.swizzle(v128.load64_zero(at + pitchD), pair);
        highA = i32x4.add(highA, i32x4.dot_i16x8_s(a, high));
        highB = i32x4.add(highB, i32x4.dot_i16x8_s(b, high));
        highC = i32x4.add(highC, i32x4.dot_i16x8_s(c, high));
        highD = i32x4.add(highD, i32x4.dot_i16x8_s(d, high));
        lowA = i32x4.add(lowA, i32x4.dot_i16x8_s(a, low));
        lowB = i32x4.add(lowB, i32x4.dot_i16x8_s(b, low));
        lowC = i32x4.add(lowC, i32x4.dot_i16x8_s(c, low));
        lowD = i32x4.add(lowD, i32x4.dot_i16x8_s(d, low));
        at += 8;
      }
      storePixel(toD + x, highD, lowD);
      storePixel(toC + x, highC, lowC);
      storePixel(toB + x, highB, lowB);
      storePixel(to + x, highA, lowA);
      row += stride << 2;
    }
    from += pitch << 2;
    to += toPitch << 2;
  }
}

/** Makes `rows` rows of `length` bytes: each is the sum of `counts[y]` rows from row `starts[y]` on. */
export function rows(from: usize, pitch: usize, to: usize, toPitch: usize, length: usize, rows: i32, table: usize, stride: usize): void {
  let weights = table + (<usize>rows << 3);
  for (let y = 0; y < rows; y++) {
    const top = from + <usize>load<u32>(table + (<usize>y << 3)) * pitch;
    const count = <usize>load<u32>(table + (<usize>y << 3), 4);
    const last = top + (count - 1) * pitch;
    for (let x: usize = 0; x < length; x += 16) {
      let highA = i32x4.splat(0), highB = highA, highC = highA, highD = highA;
      let lowA = highA, lowB = highA, lowC = highA, lowD = highA;
      let weight = weights;
      for (let row = top; row <= last; row += pitch << 1) {
        // Where there is no second row, it has the weight 0, and may lie beyond all memory.
        const one = v128.load(row + x);
        const two = v128.load((row < last ? row + pitch : row) + x);
        const high = v128.load32_splat(weight);
        const low = v128.load32_splat(weight, 4);
        const begin = i8x16.shuffle(one, two, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const end = i8x16.shuffle(one, two, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        const a = i16x8.extend_low_i8x16_u(begin);
        const b = i16x8.extend_high_i8x16_u(begin);
        const c = i16x8.extend_low_i8x16_u(end);
        const d = i16x8.extend_high_i8x16_u(end);
        highA = i32x4.add(highA, i32x4.dot_i16x8_s(a, high));
        highB = i32x4.add(highB, i32x4.dot_i16x8_s(b, high));
        highC = i32x4.add(highC, i32x4.dot_i16x8_s(c, high));
        highD = i32x4.add(highD, i32x4.dot_i16x8_s(d, high));
        lowA = i32x4.add(lowA, i32x4.dot_i16x8_s(a, low));
        lowB = i32x4.add(lowB, i32x4.dot_i16x8_s(b, low));
        lowC = i32x4.add(lowC, i32x4.dot_i16x8_s(c, low));
        lowD = i32x4.add(lowD, i32x4.dot_i16x8_s(d, low));
        weight += 8;
      }
      const low = i16x8.narrow_i32x4_s(rounded(highA, lowA), rounded(highB, lowB));
      const high = i16x8.narrow_i32x4_s(rounded(highC, lowC), rounded(highD, lowD));
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

/** Four bytes as real numbers: computed in 64 bits and rounded once, as JavaScript does. */
// @ts-ignore: decorator
@inline
function values(bytes: v128, low: v128, lowOffset: v128, high: v128, highOffset: v128): v128 {
  const a = f64x2.add(f64x2.mul(f64x2.convert_low_i32x4_u(bytes), low), lowOffset);
  const rest = i8x16.shuffle(bytes, bytes, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
  const b = f64x2.add(f64x2.mul(f64x2.convert_low_i32x4_u(rest), high), highOffset);
  const c = f32x4.demote_f64x2_zero(a);
  const d = f32x4.demote_f64x2_zero(b);
  return i8x16.shuffle(c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

/**
 * Values of each channel by itself, as 32-bit floats. `table` has three factors of channels and three offsets, of 64
 * bits; `isFlipped`, rows are written from right to left.
 */
export function planes(from: usize, pitch: usize, height: i32, width: i32, channels: i32, isFlipped: bool, table: usize, to: usize): void {
  const step: usize = isFlipped ? -16 : 16;
  const first = isFlipped
    ? i8x16(12, 99, 99, 99, 8, 99, 99, 99, 4, 99, 99, 99, 0, 99, 99, 99)
    : i8x16(0, 99, 99, 99, 4, 99, 99, 99, 8, 99, 99, 99, 12, 99, 99, 99);
  for (let c = 0; c < channels; c++) {
    const keep = i8x16.add(first, i8x16.splat(<i8>c));
    const factor = v128.load64_splat(table + (<usize>c << 3));
    const offset = v128.load64_splat(table + (<usize>c << 3), 24);
    let row = isFlipped ? from + (<usize>width << 2) - 16 : from;
    for (let y = 0; y < height; y++) {
      let at = row;
      const end = to + (<usize>width << 2);
      for (; to < end; to += 16) {
        v128.store(to, values(i8x16.swizzle(v128.load(at), keep), factor, offset, factor, offset));
        at += step;
      }
      to = end;
      row += pitch;
    }
  }
}

/** As `planes`, but the three channels of each pixel side by side. */
export function triples(from: usize, pitch: usize, height: i32, width: i32, isFlipped: bool, table: usize, to: usize): void {
  const step: usize = isFlipped ? -4 : 4;
  const keep = i8x16(0, 99, 99, 99, 1, 99, 99, 99, 2, 99, 99, 99, 3, 99, 99, 99);
  const low = v128.load(table);
  const high = v128.load64_zero(table, 16);
  const lowOffset = v128.load(table, 24);
  const highOffset = v128.load64_zero(table, 40);
  let row = isFlipped ? from + (<usize>(width - 1) << 2) : from;
  for (let y = 0; y < height; y++) {
    let at = row;
    for (let x = 0; x < width; x++) {
      v128.store(to, values(i8x16.swizzle(v128.load32_zero(at), keep), low, lowOffset, high, highOffset));
      at += step;
      to += 12;
    }
    row += pitch;
  }
}
