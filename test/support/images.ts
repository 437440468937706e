/** Generated test images, and their comparison. */
import assert from "node:assert/strict";
import type { Image } from "../../src/codecs/image/mod.ts";
import { PYTHON } from "./programs/programs.ts";

/** Generates a picture with slopes, edges and a little noise. Deterministic. */
export function testImage(
  width: number,
  height: number,
  channels: 1 | 3 = 3,
): Image {
  const data = new Uint8Array(width * height * channels);
  let noise = 1;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++) {
        noise = Math.imul(noise, 1103515245) + 12345 >>> 0;
        const slope = 200 * (c === 1 ? y / height : x / width);
        const disc = (x - width / 2) ** 2 + (y - height / 2) ** 2 <
            (Math.min(width, height) / 3) ** 2
          ? 40
          : 0;
        data[i++] = slope + disc + (noise >>> 30);
      }
    }
  }
  return { data, height, width, channels };
}

/** Difference between two images. */
export interface Difference {
  /** Mean absolute difference of channel values, from 0 to 255. */
  readonly mean: number;
  /** Maximum absolute difference. */
  readonly max: number;
}

/** Compares the bytes of two images of the same size. */
export function difference(a: Uint8Array, b: Uint8Array): Difference {
  assert.equal(a.length, b.length);
  let [sum, max] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    const distance = Math.abs(a[i]! - b[i]!);
    sum += distance;
    max = Math.max(max, distance);
  }
  return { mean: sum / a.length, max };
}

/** Asserts that the difference between two images is at most `most`. */
export function assertClose(
  a: Uint8Array,
  b: Uint8Array,
  most: Difference,
  message: string,
): void {
  const { mean, max } = difference(a, b);
  assert.ok(
    mean <= most.mean && max <= most.max,
    `${message}: mean ${mean.toFixed(3)}, max ${max}, ` +
      `allowed ${most.mean}, ${most.max}`,
  );
}

/** Reads a JPEG's frame header: the sampling factors of each component, as one byte 0xHV. */
export function samplingOf(jpeg: Uint8Array): number[] {
  let at = 2;
  while (jpeg[at + 1] !== 0xc0) at += 2 + (jpeg[at + 2]! << 8 | jpeg[at + 3]!);
  const components = jpeg[at + 9]!;
  return Array.from({ length: components }, (_, i) => jpeg[at + 11 + 3 * i]!);
}

/** Runs Python code, with Pillow as `Image` and NumPy as `np`, that writes to `out`. */
export async function pillow(
  code: string,
  ...args: string[]
): Promise<Uint8Array> {
  const prelude = "import sys\nimport numpy as np\nfrom PIL import Image\n" +
    "out = sys.stdout.buffer\n";
  const { success, stdout, stderr } = await new Deno.Command(PYTHON, {
    args: ["-c", prelude + code, ...args],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return stdout;
}
