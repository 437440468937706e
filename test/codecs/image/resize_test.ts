import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  type Image,
  imageCodec,
  ImageError,
  readImageHeader,
} from "../../../src/codecs/image/mod.ts";
import { shortEdgeSize } from "../../../src/codecs/image/short_edge.ts";
import { assertClose, pillow, testImage } from "../../support/images.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";

const NAMES = ["imagescript", "sharp", "turbojpeg"] as const;

const EXACT = { mean: 0, max: 0 };

Deno.test({
  name: "shortEdgeSize() is Python's int(size * (long / short))",
  ...needs("python3"),
  async fn() {
    const edge = fc.integer({ min: 1, max: 5000 });
    const sizes = fc.sample(
      fc.tuple(edge, edge, fc.integer({ min: 1, max: 600 })),
      { numRuns: 3000, seed: 4 },
    ).filter(([w, h, s]) => Math.max(w, h) / Math.min(w, h) * s < 60_000);
    const code = `
import json, sys
out = []
for w, h, size in json.load(open(sys.argv[1])):
    if h < w:
        scale = w / float(h)
        out.append([int(size * scale), size])
    else:
        scale = h / float(w)
        out.append([size, int(size * scale)])
print(json.dumps(out))`;
    await withTempDir(async (dir) => {
      const list = `${dir}/sizes.json`;
      await Deno.writeTextFile(list, JSON.stringify(sizes));
      const { stdout } = await new Deno.Command(PYTHON, {
        args: ["-c", code, list],
      }).output();
      const expected = JSON.parse(new TextDecoder().decode(stdout));
      assert.equal(expected.length, sizes.length);
      sizes.forEach(([width, height, edge], i) => {
        const size = shortEdgeSize({ width, height }, edge);
        assert.deepEqual([size.width, size.height], expected[i]);
      });
    });
  },
});

Deno.test("a short edge below 1 changes nothing; one that makes a huge image is rejected", () => {
  const size = { width: 30, height: 20 };
  for (const edge of [0, -1, -256]) {
    assert.deepEqual(shortEdgeSize(size, edge), size);
  }
  assert.throws(() => shortEdgeSize(size, 2.5), RangeError);
  assert.throws(
    () => shortEdgeSize({ width: 60_000, height: 1 }, 256),
    (error) =>
      error instanceof ImageError && error.code === "image-too-large" &&
      /60000 × 1 pixels with a short edge of 256/.test(error.message),
  );
  assert.throws(
    () => shortEdgeSize({ width: 1, height: 1 }, 60_000),
    ImageError,
  );
});

for (const name of NAMES) {
  Deno.test(`${name}: resizing preserves flat areas, and images of the target size`, async () => {
    const codec = await imageCodec(name);
    for (const channels of [1, 3] as const) {
      const data = new Uint8Array(90 * 70 * channels).fill(201);
      const flat: Image = { data, width: 90, height: 70, channels };
      for (const edge of [1, 13, 35, 140]) {
        const resized = await codec.resizeShortEdge(flat, edge);
        assert.equal(resized.channels, channels);
        assert.equal(resized.height, edge);
        assert.equal(resized.width, Math.floor(edge * (90 / 70)));
        assert.equal(resized.data.length, edge * resized.width * channels);
        assert.ok(resized.data.every((value) => value === 201), `${edge}`);
      }
      for (const edge of [70, 0, -1]) {
        assert.deepEqual(await codec.resizeShortEdge(flat, edge), flat);
      }
    }
  });

  Deno.test({
    name: `${name}: resizing matches Pillow's BILINEAR`,
    ...needs("pillow"),
    async fn() {
      const codec = await imageCodec(name);
      await withTempDir(async (dir) => {
        for (const channels of [1, 3] as const) {
          for (const [width, height] of [[131, 97], [97, 131], [64, 64]]) {
            const image = testImage(width!, height!, channels);
            await Deno.writeFile(`${dir}/pixels`, image.data);
            const ours: Image[] = [];
            for (const edge of [8, 20, 48, 96, 97, 150]) {
              ours.push(await codec.resizeShortEdge(image, edge));
            }
            let theirs = await pillow(
              `
path, mode, w, h, *sizes = sys.argv[1:]
image = Image.frombytes(mode, (int(w), int(h)), open(path, 'rb').read())
for size in sizes:
    size = tuple(map(int, size.split('x')))
    out.write(image.resize(size, Image.BILINEAR).tobytes())`,
              ...[`${dir}/pixels`, channels === 1 ? "L" : "RGB"],
              ...[`${width}`, `${height}`],
              ...ours.map((resized) => `${resized.width}x${resized.height}`),
            );
            for (const { data, width: to } of ours) {
              const most = EXACT;
              const expected = theirs.subarray(0, data.length);
              assertClose(data, expected, most, `${width} to ${to}`);
              theirs = theirs.subarray(data.length);
            }
            assert.equal(theirs.length, 0);
          }
        }
      });
    },
  });

  Deno.test(`${name}: jpegFromImageFile() equals decoding, resizing and encoding`, async () => {
    const codec = await imageCodec(name);
    for (const channels of [1, 3] as const) {
      const image = testImage(320, 240, channels);
      const file = await codec.encode(image, 95);
      for (const shortEdge of [120, 60, 300]) {
        const jpeg = await codec.jpegFromImageFile(file, { shortEdge });
        const { height, width, channels: kept } = readImageHeader(jpeg);
        assert.deepEqual(
          [height, width, kept],
          [shortEdge, shortEdge / 3 * 4, channels],
        );
        const resized = await codec.resizeShortEdge(image, shortEdge);
        const decoded = await codec.decode(jpeg);
        const most = { mean: 2.5, max: 40 };
        assertClose(decoded.data, resized.data, most, `${shortEdge}`);
      }
      const small = await codec.jpegFromImageFile(file, {
        shortEdge: 120,
        quality: 30,
      });
      const large = await codec.jpegFromImageFile(file, { shortEdge: 120 });
      assert.ok(small.length < large.length / 1.5);
    }
  });

  Deno.test(`${name}: a JPEG of the right size is unchanged by default`, async () => {
    const codec = await imageCodec(name);
    const file = await codec.encode(testImage(64, 48), 60);
    const padded = new Uint8Array(file.length + 3);
    padded.set(file);
    for (const shortEdge of [undefined, 0, -1, 48]) {
      const options = { shortEdge, quality: 90 };
      assert.deepEqual(await codec.jpegFromImageFile(padded, options), file);
      const again = await codec.jpegFromImageFile(padded, {
        ...options,
        reencode: true,
      });
      assert.ok(again.length > file.length);
    }
    await assert.rejects(
      () => codec.jpegFromImageFile(file.subarray(0, -30), { path: "cat.jpg" }),
      (error) => error instanceof ImageError && error.path === "cat.jpg",
    );
  });
}
