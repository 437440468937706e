import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import {
  CenterCrop,
  type FloatImage,
  Normalize,
  type Picture,
  UnitNorm,
  UnitNormVideo,
} from "../../../src/data/transforms/mod.ts";
import { Random } from "../../../src/data/random/random.ts";
import { testImage } from "../../support/images.ts";
import { pythonLines } from "../../support/programs/python.ts";
import { needs } from "../../support/programs/programs.ts";

/** Relative tolerance: half the distance of neighbouring float32 numbers, with a margin for cancellation. */
const CLOSE = 2 ** -23;

function assertValues(
  actual: Float32Array,
  expected: ArrayLike<number>,
  close = CLOSE,
): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < actual.length; i++) {
    const most = close * Math.max(Math.abs(expected[i]!), 1e-3);
    assert.ok(
      Math.abs(actual[i]! - expected[i]!) <= most,
      `${i}: ${actual[i]}, expected ${expected[i]}`,
    );
  }
}

const image = fc.tuple(
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 12 }),
  fc.constantFrom<(1 | 3)[]>(1, 3),
  fc.nat({ max: 1000 }),
).map(([width, height, channels, seed]): Image => {
  const data = new Uint8Array(width * height * channels);
  const random = new Random(seed);
  for (let i = 0; i < data.length; i++) data[i] = random.int(256);
  return { data, width, height, channels };
});

/** Computes the definition in float64. */
function unitNorm(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) /
    values.length;
  return values.map((value) => (value - mean) / (Math.sqrt(variance) + 1e-8));
}

Deno.test("Normalize() is (value × scale - mean) / (std + 1e-8), by channel", () => {
  const numbers = fc.array(fc.double({ min: 0.1, max: 200, noNaN: true }), {
    minLength: 3,
    maxLength: 3,
  });
  fc.assert(fc.property(
    image,
    numbers,
    numbers,
    fc.constantFrom(1, 1 / 255),
    (image, mean, std, scale) => {
      const count = image.channels;
      const norm = new Normalize(mean.slice(0, count), std.slice(0, count), {
        scale,
      });
      assertValues(
        norm.apply(image).data,
        [...image.data].map((value, i) => {
          const c = i % count;
          return (value * scale - mean[c]!) / (std[c]! + 1e-8);
        }),
      );
    },
  ));
});

Deno.test("UnitNorm() gives each image the mean 0 and the deviation 1", () => {
  fc.assert(fc.property(image, (image) => {
    assertValues(new UnitNorm().apply(image).data, unitNorm([...image.data]));
  }));
});

Deno.test({
  name: "UnitNorm() and Normalize() match numpy",
  ...needs("numpy"),
  async fn() {
    const images = [testImage(17, 11), testImage(8, 8, 1), testImage(5, 21)];
    const [mean, std] = [[120.5, 99, 3.25], [1.5, 20, 60]];
    const lines = await pythonLines(
      `
import json, sys
import numpy as np
images, mean, std = json.loads(sys.stdin.read())
for data, shape in images:
    t = np.array(data, np.uint8).reshape(shape)
    unit = (t - t.mean()) / (t.std() + 1e-8)
    norm = (t - np.array(mean)) / (np.array(std) + 1e-8) if shape[2] == 3 else (t - mean[0]) / (std[0] + 1e-8)
    print(json.dumps([unit.ravel().tolist(), norm.ravel().tolist()]))`,
      JSON.stringify([
        images.map((
          { data, height, width, channels },
        ) => [[...data], [height, width, channels]]),
        mean,
        std,
      ]),
    ) as number[][][];
    images.forEach((image, i) => {
      const norm = image.channels === 3
        ? new Normalize(mean, std)
        : new Normalize(mean[0]!, std[0]!);
      const [unit, normalized] = lines[i]!;
      assertValues(new UnitNorm().apply(image).data, unit!);
      assertValues(norm.apply(image).data, normalized!);
    });
  },
});

Deno.test("an image of one value becomes zeros", () => {
  const flat = { ...testImage(6, 6), data: new Uint8Array(108).fill(93) };
  assert.ok(new UnitNorm().apply(flat).data.every((value) => value === 0));
});

Deno.test("normalizing twice, with a crop in between, follows the definition", () => {
  const image = testImage(12, 9);
  const norm = new Normalize([100, 50, 10], [3, 2, 1]);
  const whole = new UnitNorm().apply(norm.apply(image));
  const once = [...image.data].map((value, i) =>
    (value - [100, 50, 10][i % 3]!) / ([3, 2, 1][i % 3]! + 1e-8)
  );
  assertValues(whole.data, unitNorm(once));
  const part = new UnitNorm().apply(new CenterCrop(5).apply(norm.apply(image)));
  const expected = new UnitNorm().apply(
    { ...norm.apply(new CenterCrop(5).apply(image)) },
  );
  // Intermediate values were rounded to float32.
  assertValues(part.data, expected.data, 1e-5);
});

Deno.test("changes that a function makes to real numbers reach the later steps", () => {
  const norm = new Normalize(0, 1).apply(testImage(4, 4));
  norm.data.fill(7);
  const twice = new Normalize(0, 0.5).apply(norm);
  assertValues(twice.data, new Array(48).fill(7 / (0.5 + 1e-8)));
});

Deno.test("real numbers are sent to other threads like any object", () => {
  const norm: FloatImage = new UnitNorm().apply(testImage(4, 3));
  assert.deepEqual(structuredClone(norm), {
    height: 3,
    width: 4,
    channels: 3,
    data: norm.data,
  });
});

Deno.test("a clip is normalized as a whole", () => {
  const clip = [testImage(5, 4), testImage(5, 4), testImage(9, 2)];
  clip[1]!.data.fill(9);
  const normalized = new UnitNormVideo().apply(clip);
  const expected = unitNorm(clip.flatMap(({ data }) => [...data]));
  assertValues(
    new Float32Array(normalized.flatMap(({ data }) => [...data])),
    expected,
  );
  assert.deepEqual(
    normalized.map(({ width, height }) => [width, height]),
    [[5, 4], [5, 4], [9, 2]],
  );
});

Deno.test("one mean applies to all channels; three are rejected for gray images", () => {
  const image = testImage(4, 4);
  assert.deepEqual(
    new Normalize(3, 2).apply(image).data,
    new Normalize([3, 3, 3], [2, 2, 2]).apply(image).data,
  );
  assert.throws(
    () => new Normalize([1, 2, 3], 1).apply(testImage(4, 4, 1)),
    /Normalize has 3 means, but was given a gray picture/,
  );
  for (const bad of [NaN, Infinity, [], [1, 2], [1, 2, NaN]]) {
    assert.throws(
      () => new Normalize(bad, 1),
      /The mean of Normalize must be/,
    );
    assert.throws(() => new Normalize(1, bad), /The std of Normalize must be/);
  }
  assert.throws(() => new Normalize(0, -1), RangeError);
  assert.throws(() => new Normalize(0, 1, { scale: NaN }), RangeError);
});

Deno.test("transforms report unsupported inputs", () => {
  const norm = new UnitNorm();
  const cases: [unknown, RegExp][] = [
    [
      [testImage(3, 3)],
      /UnitNorm takes a picture.*UnitNormVideo, or AllFrames/,
    ],
    [new Uint8Array(4), /was given bytes: decode them first/],
    [
      { dtype: "<f4", shape: [3, 2, 2], data: new Float32Array(12) },
      /an array: put the step that makes arrays \(ToArray\) last/,
    ],
    [undefined, /something else/],
    [null, /something else/],
    [{ ...testImage(3, 3), width: 4 }, /cannot have 27 bytes/],
  ];
  for (const [value, message] of cases) {
    assert.throws(() => norm.apply(value as Picture), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
      return true;
    });
  }
});
