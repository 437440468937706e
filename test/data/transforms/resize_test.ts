import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { ImageError } from "../../../src/codecs/image/mod.ts";
import { Normalize, Resize, Scale } from "../../../src/data/transforms/mod.ts";
import { pillow, testImage } from "../../support/images.ts";
import { withTempDir } from "../../support/paths.ts";
import { pythonLines } from "../../support/programs/python.ts";
import { needs } from "../../support/programs/programs.ts";

Deno.test({
  name:
    "Scale() to a short edge has the sizes of GulpIO: int(size * long / short)",
  ...needs("python3"),
  async fn() {
    const edge = fc.integer({ min: 1, max: 150 });
    const sizes = fc.sample(
      fc.tuple(edge, edge, fc.integer({ min: 1, max: 60 })),
      { numRuns: 300, seed: 2 },
    );
    const expected = await pythonLines(
      `
import json, sys
for w, h, size in json.loads(sys.stdin.read()):
    if (w <= h and w == size) or (h <= w and h == size):
        ow, oh = w, h
    elif w < h:
        ow, oh = size, int(size * h / w)
    else:
        ow, oh = int(size * w / h), size
    print(json.dumps([ow, oh]))`,
      JSON.stringify(sizes),
    );
    sizes.forEach(([width, height, size], i) => {
      const data = new Uint8Array(width * height);
      const image = { data, width, height, channels: 1 } as const;
      for (const transform of [new Scale(size), new Resize(size)]) {
        const scaled = transform.apply(image);
        assert.deepEqual([scaled.width, scaled.height], expected[i]);
      }
    });
  },
});

Deno.test({
  name: "resized images have Pillow's BILINEAR pixels",
  ...needs("pillow"),
  async fn() {
    await withTempDir(async (dir) => {
      for (const [width, height] of [[31, 20], [140, 200], [97, 20]]) {
        const image = testImage(97, 131);
        await Deno.writeFile(`${dir}/pixels`, image.data);
        const expected = await pillow(
          `
p, w, h = sys.argv[1:]
i = Image.frombytes('RGB', (97, 131), open(p, 'rb').read())
out.write(i.resize((int(w), int(h)), Image.BILINEAR).tobytes())`,
          ...[`${dir}/pixels`, `${width}`, `${height}`],
        );
        const size = { width: width!, height: height! };
        for (const transform of [new Resize(size), new Scale(size)]) {
          const resized = transform.apply(image);
          assert.deepEqual([resized.width, resized.height], [width, height]);
          assert.deepEqual(resized.data, expected);
        }
      }
    });
  },
});

Deno.test("an image that has the size already stays the same image", () => {
  const image = testImage(30, 20);
  assert.equal(new Scale(20).apply(image), image);
  assert.equal(new Resize({ width: 30, height: 20 }).apply(image), image);
});

Deno.test("images that would be too large are rejected, and so are real numbers", () => {
  const data = new Uint8Array(60_000);
  const line = { data, width: 60_000, height: 1, channels: 1 } as const;
  assert.throws(
    () => new Scale(256).apply(line),
    (error) =>
      error instanceof ImageError && error.code === "image-too-large" &&
      /60000 × 1 pixels would become 15360000 × 256/.test(error.message),
  );
  for (const size of [0, 1.5, -3]) {
    assert.throws(() => new Scale(size), /The size of Scale must be/);
    assert.throws(() => new Resize(size), /The size of Resize must be/);
  }
  const real = new Normalize(0, 1).apply(testImage(9, 9));
  assert.throws(
    () => new Scale(4).apply(real as never),
    /Scale takes pixels that are bytes.*put it before the step that makes them/,
  );
});
