import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import { Random } from "../../../src/data/random/random.ts";
import {
  CenterCrop,
  JitterCrop,
  type PadOptions,
  RandomCrop,
} from "../../../src/data/transforms/mod.ts";
import { numberedImage, placeOf } from "../../support/numbered_image.ts";
import { pythonLines } from "../../support/programs/python.ts";
import { needs } from "../../support/programs/programs.ts";

const edge = fc.integer({ min: 1, max: 15 });
const channels = fc.constantFrom<(1 | 3)[]>(1, 3);

Deno.test("crops are parts of the image, of the requested size", () => {
  fc.assert(fc.property(
    edge,
    edge,
    edge,
    edge,
    channels,
    fc.nat(),
    (height, width, cropHeight, cropWidth, channels, seed) => {
      const image = numberedImage(width, height, channels);
      const size = { height: cropHeight, width: cropWidth };
      const crop = new RandomCrop(size);
      const apply = () => crop.apply(image, new Random(seed));
      if (cropHeight > height || cropWidth > width) {
        assert.throws(apply, RangeError);
        return;
      }
      const part = apply();
      const { x, y } = placeOf(part, image);
      assert.ok(x + cropWidth <= width && y + cropHeight <= height);
      assertPart(part, image, x, y, cropWidth, cropHeight);
      assert.deepEqual(apply(), part);
    },
  ));
});

/** Asserts that `part` equals that region of the image. */
function assertPart(
  part: Image,
  image: Image,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  assert.deepEqual(
    [part.width, part.height, part.channels],
    [width, height, image.channels],
  );
  for (let row = 0; row < height; row++) {
    for (let i = 0; i < width * image.channels; i++) {
      assert.equal(
        part.data[row * width * image.channels + i],
        image.data[((y + row) * image.width + x) * image.channels + i],
      );
    }
  }
}

Deno.test("random crops start everywhere, equally often", () => {
  const image = numberedImage(7, 5, 1);
  const crop = new RandomCrop({ width: 4, height: 3 });
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const { x, y } = placeOf(crop.apply(image, new Random(3, 0, i)), image);
    const key = `${x},${y}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assert.equal(counts.size, 4 * 3);
  for (const count of counts.values()) {
    assert.ok(count > 400 && count < 600, `${count} of 500`);
  }
});

Deno.test({
  name: "the centre is rounded like Python's round()",
  ...needs("python3"),
  async fn() {
    const sizes = fc.sample(fc.tuple(edge, edge), { numRuns: 200, seed: 1 });
    const expected = await pythonLines(
      `
import json, sys
for a, b in json.loads(sys.stdin.read()):
    print(json.dumps(int(round((max(a, b) - min(a, b)) / 2.))))`,
      JSON.stringify(sizes),
    );
    sizes.forEach(([a, b], i) => {
      const [large, small] = [Math.max(a, b), Math.min(a, b)];
      const crop = new CenterCrop(small);
      const image = numberedImage(large, large, 1);
      const { x, y } = placeOf(crop.apply(image), image);
      assert.deepEqual([x, y], [expected[i], expected[i]]);
    });
  },
});

Deno.test("the centre crop of an image that is too small is that of an enlarged image", () => {
  const square = new CenterCrop(20);
  const flat = (width: number, height: number): Image => ({
    data: new Uint8Array(width * height * 3).fill(77),
    width,
    height,
    channels: 3,
  });
  for (const [width, height] of [[10, 10], [30, 10], [10, 30], [19, 40]]) {
    const { data, ...size } = square.apply(flat(width!, height!));
    assert.deepEqual(size, { height: 20, width: 20, channels: 3 });
    assert.ok(data.every((value) => value === 77));
  }
  const both = new CenterCrop({ height: 12, width: 50 });
  const { height, width } = both.apply(flat(30, 30));
  assert.deepEqual([height, width], [12, 50]);
});

Deno.test("crops reject invalid sizes, paddings and images", () => {
  for (const size of [0, -1, 2.5, NaN, Infinity]) {
    assert.throws(
      () => new CenterCrop(size),
      /The size of CenterCrop must be/,
    );
    assert.throws(() => new RandomCrop(size), RangeError);
    assert.throws(() => new JitterCrop([size]), RangeError);
    const height = size;
    assert.throws(() => new RandomCrop({ height, width: 3 }), RangeError);
  }
  assert.throws(() => new JitterCrop([]), /JitterCrop needs at least one size/);
  assert.throws(() => new RandomCrop(3, { padding: -1 }), RangeError);
  assert.throws(() => new RandomCrop(3, { padding: 0.5 }), RangeError);
  assert.throws(
    () => new RandomCrop(3, { padMode: "wrap" } as unknown as PadOptions),
    /The padMode of RandomCrop must be .*, not 'wrap'/,
  );
  const small = numberedImage(5, 9, 3);
  assert.throws(
    () => new RandomCrop(6).apply(small, new Random(1)),
    /RandomCrop cannot cut 6 × 6 pixels out of 5 × 9: scale before it/,
  );
});

Deno.test("jittered crops have every width and every height, independently", () => {
  const image = numberedImage(30, 30, 3);
  const crop = new JitterCrop([8, 12, 30]);
  const seen = new Set<string>();
  for (let i = 0; i < 300; i++) {
    const part = crop.apply(image, new Random(5, 1, i));
    const { x, y } = placeOf(part, image);
    assertPart(part, image, x, y, part.width, part.height);
    seen.add(`${part.width}x${part.height}`);
  }
  assert.equal(seen.size, 9);
});

Deno.test("jittered crops are 256, 224, 192 or 168 long by default", () => {
  const image = numberedImage(256, 256, 1);
  const lengths = new Set<number>();
  for (let i = 0; i < 100; i++) {
    const { height, width } = new JitterCrop().apply(image, new Random(i));
    lengths.add(height).add(width);
  }
  assert.deepEqual([...lengths].sort(), [168, 192, 224, 256]);
});

Deno.test({
  name: "borders are those of numpy.pad",
  ...needs("numpy"),
  async fn() {
    const cases = [];
    for (const padMode of ["constant", "edge", "reflect"] as const) {
      for (const channels of [1, 3] as const) {
        for (const padding of [[0, 0, 0, 1], [2, 1, 3, 4], [9, 9, 9, 9]]) {
          cases.push({ padMode, channels, padding });
        }
      }
    }
    const [width, height] = [6, 5];
    const expected = await pythonLines(
      `
import json, sys
import numpy as np
for case in json.loads(sys.stdin.read()):
    left, top, right, bottom = case["padding"]
    a = np.array(case["data"], np.uint8).reshape(${height}, ${width}, case["channels"])
    b = np.pad(a, ((top, bottom), (left, right), (0, 0)), mode=case["padMode"])
    print(json.dumps([list(b.shape), b.ravel().tolist()]))`,
      JSON.stringify(cases.map((one) => ({
        ...one,
        data: [...numberedImage(width, height, one.channels).data],
      }))),
    );
    cases.forEach(({ padMode, channels, padding }, i) => {
      const [left, top, right, bottom] = padding as [
        number,
        number,
        number,
        number,
      ];
      const [shape, values] = expected[i] as [number[], number[]];
      const whole = { height: shape[0]!, width: shape[1]! };
      const crop = new RandomCrop(whole, {
        padding: { left, top, right, bottom },
        padMode,
      });
      const image = numberedImage(width, height, channels);
      const padded = crop.apply(image, new Random(1));
      assert.deepEqual([padded.height, padded.width, padded.channels], shape);
      assert.deepEqual([...padded.data], values, padMode);
    });
  },
});

Deno.test("a crop may lie anywhere in the border, on all sides", () => {
  const image = numberedImage(3, 3, 1);
  const crop = new RandomCrop(3, { padding: 2 });
  const zeroColumns = new Set<string>();
  for (let i = 0; i < 400; i++) {
    const { data } = crop.apply(image, new Random(i));
    zeroColumns.add(
      [0, 1, 2].map((x) =>
        [0, 1, 2].every((y) => data[y * 3 + x] === 0) ? "0" : "x"
      ).join(""),
    );
  }
  // Shifted left by two or one, not at all, or right by one or two.
  assert.deepEqual(
    [...zeroColumns].sort(),
    ["00x", "0xx", "x00", "xx0", "xxx"],
  );
});
