import assert from "node:assert/strict";
import {
  Normalize,
  type Picture,
  ToArray,
  ToArrayVideo,
} from "../../../src/data/transforms/mod.ts";
import { testImage } from "../../support/images.ts";

const CLASSES = {
  float16: [Float16Array, "<f2"],
  float32: [Float32Array, "<f4"],
  uint8: [Uint8Array, "|u1"],
} as const;

function valueOf(
  { data, width, channels }: Picture,
  y: number,
  x: number,
  c: number,
): number {
  return data[(y * width + x) * channels + c]!;
}

Deno.test("arrays of images have channels first or last, in every type", () => {
  for (const dtype of ["float16", "float32", "uint8"] as const) {
    for (const channels of [1, 3] as const) {
      const image = testImage(7, 5, channels);
      const [Class, name] = CLASSES[dtype];
      const first = new ToArray({ dtype }).apply(image);
      const last = new ToArray({ dtype, layout: "channels-last" }).apply(image);
      assert.ok(first.data instanceof Class && last.data instanceof Class);
      assert.deepEqual([first.dtype, last.dtype], [name, name]);
      assert.deepEqual(first.shape, [channels, 5, 7]);
      assert.deepEqual(last.shape, [5, 7, channels]);
      for (let y = 0; y < 5; y++) {
        for (let x = 0; x < 7; x++) {
          for (let c = 0; c < channels; c++) {
            const value = valueOf(image, y, x, c);
            assert.equal(first.data[(c * 5 + y) * 7 + x], value);
            assert.equal(last.data[(y * 7 + x) * channels + c], value);
          }
        }
      }
    }
  }
});

Deno.test("values are scaled, and normalized ones written unchanged", () => {
  const image = testImage(4, 3);
  const scaled = new ToArray({ scale: 1 / 255, layout: "channels-last" })
    .apply(image);
  assert.deepEqual(
    scaled.data,
    Float32Array.from(image.data, (value) => value * (1 / 255)),
  );
  const norm = new Normalize([1, 2, 3], [4, 5, 6]);
  const array = new ToArray({ layout: "channels-last" })
    .apply(norm.apply(image));
  assert.deepEqual(array.data, norm.apply(image).data);
  const halves = new ToArray({ scale: 0.5, layout: "channels-last" })
    .apply(norm.apply(image));
  assert.deepEqual(halves.data, norm.apply(image).data.map((v) => v * 0.5));
});

Deno.test("arrays of clips have frames or channels outermost", () => {
  const clip = [testImage(4, 3), testImage(4, 3), testImage(4, 3)];
  clip[1]!.data.reverse();
  clip[2]!.data.fill(3);
  const [t, h, w, c] = [3, 3, 4, 3];
  const layouts = {
    "channels-first": [[t, c, h, w], [c * h * w, h * w, w, 1]],
    "channels-last": [[t, h, w, c], [h * w * c, 1, w * c, c]],
    "channels-outermost": [[c, t, h, w], [h * w, t * h * w, w, 1]],
  } as const;
  for (const layout of Object.keys(layouts) as (keyof typeof layouts)[]) {
    const [shape, [perFrame, perChannel, perRow, perPixel]] = layouts[layout];
    const array = new ToArrayVideo({ layout, dtype: "uint8" }).apply(clip);
    assert.deepEqual(array.shape, shape);
    assert.equal(array.dtype, "|u1");
    clip.forEach((frame, i) => {
      for (let y = 0; y < h; y++) {
        for (let x = 0; x < w; x++) {
          for (let k = 0; k < c; k++) {
            const at = i * perFrame + k * perChannel + y * perRow +
              x * perPixel;
            assert.equal(array.data[at], valueOf(frame, y, x, k), layout);
          }
        }
      }
    });
  }
  assert.deepEqual(new ToArrayVideo().apply(clip).shape, [t, c, h, w]);
  assert.equal(new ToArrayVideo().apply(clip).dtype, "<f4");
});

Deno.test("arrays reject values that they cannot hold", () => {
  const image = testImage(4, 4);
  const real = new Normalize(0, 1).apply(image);
  for (const Class of [ToArray, ToArrayVideo]) {
    const dtype = "int8" as never;
    assert.throws(
      () => new Class({ dtype }),
      /must be float32, float16 or uint8, not int8/,
    );
    assert.throws(
      () => new Class({ layout: "NCHW" as never }),
      /The layout of .* must be .*, not 'NCHW'/,
    );
    assert.throws(() => new Class({ scale: NaN }), /cannot scale by NaN/);
    assert.throws(
      () => new Class({ dtype: "uint8", scale: 0.5 }),
      /cannot scale by 0.5 to uint8/,
    );
  }
  assert.throws(
    () => new ToArray({ dtype: "uint8" }).apply(real),
    /ToArray cannot make bytes of real numbers/,
  );
  assert.throws(
    () => new ToArrayVideo({ dtype: "uint8" }).apply([image, real]),
    /ToArrayVideo cannot make bytes of real numbers/,
  );
  assert.throws(
    () => new ToArrayVideo().apply([image, testImage(5, 4)]),
    /the first is 4 × 4 × 3, number 1 is 4 × 5 × 3/,
  );
  assert.throws(() => new ToArrayVideo().apply([]), /no frames/);
});
