/** Images made up for tests, and how far two are apart. */
import assert from "node:assert/strict";
import type { Image } from "../../src/codecs/image/mod.ts";
import { PYTHON } from "./programs/programs.ts";

/** A picture with slopes, edges and a little noise, the same for the same arguments. */
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

/** How far two images are apart. */
export interface Difference {
  /** Mean absolute difference of a channel's values, of 255. */
  readonly mean: number;
  /** The largest. */
  readonly max: number;
}

/** Compares the bytes of two images of one size. */
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

/** Fails unless two images are as close as said. */
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

/** What a JPEG's frame header says: components, and the sampling of each as one hex number. */
export function samplingOf(jpeg: Uint8Array): number[] {
  let at = 2;
  while (jpeg[at + 1] !== 0xc0) at += 2 + (jpeg[at + 2]! << 8 | jpeg[at + 3]!);
  const components = jpeg[at + 9]!;
  return Array.from({ length: components }, (_, i) => jpeg[at + 11 + 3 * i]!);
}

/** Runs Python code with Pillow as `Image` and numpy as `np`; it writes to `out`. */
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
