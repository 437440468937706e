import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { ImageError } from "../../../src/codecs/image/mod.ts";
import { Thumbnailer } from "../../../src/codecs/image/thumbnail.ts";
import { pillow } from "../../support/images.ts";
import { needs } from "../../support/programs/programs.ts";
import { withExif } from "./support/exif.ts";

const thumbnailer = await Thumbnailer.load();

/** Corners of the stored image: red, green, blue, white; clockwise from the top left. */
const CORNERS = ["r", "g", "w", "b"] as const;

/** Clockwise corners of the upright image, by orientation (CIPA DC-008, tag 0x0112). */
const UPRIGHT: Readonly<Record<number, string>> = {
  1: "rgwb",
  2: "grbw", // row 0 is the top, column 0 the right side
  3: "wbrg", // the bottom, the right side
  4: "bwgr", // the bottom, the left side
  5: "rbwg", // the left side, the top
  6: "brgw", // the right side, the top
  7: "wgrb", // the right side, the bottom
  8: "gwbr", // the left side, the bottom
};

/** Makes an image of four rectangles of plain colours, 800 × 600 by default. */
async function corners(
  format: "jpeg" | "png" | "webp" | "tiff" | "gif" | "avif",
  width = 800,
  height = 600,
): Promise<Uint8Array> {
  const data = new Uint8Array(width * height * 3);
  const colours = { r: [255, 0, 0], g: [0, 255, 0], b: [0, 0, 255] };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isRight = x >= width / 2;
      const corner = y < height / 2
        ? CORNERS[isRight ? 1 : 0]!
        : CORNERS[isRight ? 2 : 3]!;
      const colour = corner === "w" ? [255, 255, 255] : colours[corner];
      data.set(colour, (y * width + x) * 3);
    }
  }
  return await sharp(data, { raw: { width, height, channels: 3 } })
    .toFormat(format).toBuffer();
}

/** Returns the corners of a rendered thumbnail, and its size. */
async function shown(
  bytes: Uint8Array,
): Promise<{ corners: string; width: number; height: number }> {
  const { data, info } = await sharp(bytes).removeAlpha().raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const letter = (x: number, y: number) => {
    const at = (y * width + x) * 3;
    const [r, g, b] = [...data.subarray(at, at + 3)].map((v) => v > 128);
    return r && g && b ? "w" : r ? "r" : g ? "g" : b ? "b" : "?";
  };
  const [left, top] = [width >> 2, height >> 2];
  const [right, bottom] = [width - left, height - top];
  const places = [[left, top], [right, top], [right, bottom], [left, bottom]];
  return {
    corners: places.map(([x, y]) => letter(x!, y!)).join(""),
    width,
    height,
  };
}

Deno.test("a thumbnail is upright, whatever the orientation, also one from an embedded picture", async () => {
  const picture = await corners("jpeg");
  const embedded = await corners("jpeg", 320, 240);
  for (const [orientation, expected] of Object.entries(UPRIGHT)) {
    const number = Number(orientation);
    const [width, height] = number >= 5 ? [150, 200] : [200, 150];
    for (const small of [undefined, embedded]) {
      const jpeg = withExif(picture, number, small);
      const { type, bytes } = await thumbnailer.make(jpeg, 200);
      assert.equal(type, "image/jpeg");
      assert.deepEqual(await shown(bytes), {
        ...{ corners: expected, width, height },
      }, `${orientation} ${small === undefined ? "" : "embedded"}`);
    }
  }
});

Deno.test("the embedded picture is used if it is valid, large enough and of the same shape", async () => {
  const picture = await corners("jpeg");
  const plain = async (width: number, height: number) =>
    await sharp({
      create: { width, height, channels: 3, background: "#f00" },
    }).jpeg().toBuffer();
  const isTaken = async (embedded: Uint8Array) => {
    const jpeg = withExif(picture, 1, embedded);
    const { bytes } = await thumbnailer.make(jpeg, 200);
    return (await shown(bytes)).corners === "rrrr";
  };
  assert.equal(await isTaken(await plain(200, 150)), true);
  assert.equal(await isTaken(await plain(199, 149)), false);
  assert.equal(await isTaken(await plain(320, 180)), false); // the shape differs, since the image has bars
  const cut = await plain(320, 240);
  assert.equal(await isTaken(cut.subarray(0, cut.length - 200)), false);
  assert.equal(await isTaken(new Uint8Array(100)), false);
});

Deno.test("formats are decoded, small images retain their size, and metadata is removed", async () => {
  for (
    const format of ["jpeg", "png", "webp", "tiff", "gif", "avif"] as const
  ) {
    const { bytes } = await thumbnailer.make(await corners(format), 256);
    const expected = { corners: CORNERS.join(""), width: 256, height: 192 };
    assert.deepEqual(await shown(bytes), expected, format);
  }
  const small = await thumbnailer.make(await corners("png", 40, 60), 256);
  assert.deepEqual(await shown(small.bytes), {
    ...{ corners: CORNERS.join(""), width: 40, height: 60 },
  });
  const located = withExif(await corners("jpeg"), 3, undefined);
  const { exif, orientation } = await sharp(
    (await thumbnailer.make(located, 64)).bytes,
  ).metadata();
  assert.deepEqual([exif, orientation], [undefined, undefined]);
});

Deno.test({
  name: "alpha, 16 bits, palettes and inks are drawn like Pillow",
  ...needs("pillow"),
  async fn() {
    const made = async (code: string) =>
      await pillow(`import io\nim = ${code}`, "");
    const alpha = await made(
      `Image.new("RGBA", (400, 300), (10, 200, 30, 128))\nim.save(out, "png")`,
    );
    const thumbnail = await thumbnailer.make(alpha, 100);
    assert.equal(thumbnail.type, "image/webp");
    const { data, info } = await sharp(thumbnail.bytes).raw()
      .toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height, info.channels], [100, 75, 4]);
    assert.ok(Math.abs(data[3]! - 128) <= 2, `alpha ${data[3]}`);
    const cases: [string, number[]][] = [
      [
        `Image.fromarray(np.full((300, 400), 0x8000, np.uint16))\nim.save(out, "png")`,
        [128, 128, 128],
      ],
      [
        `Image.new("RGB", (400, 300), (250, 120, 10)).quantize(4)\nim.save(out, "png")`,
        [250, 120, 10],
      ],
      [
        `Image.new("CMYK", (400, 300), (0, 255, 255, 0))\nim.save(out, "jpeg", quality=95)`,
        [255, 0, 0],
      ],
    ];
    for (const [code, expected] of cases) {
      const { bytes } = await thumbnailer.make(await made(code), 100);
      const { data } = await sharp(bytes).toColourspace("srgb").removeAlpha()
        .raw().toBuffer({ resolveWithObject: true });
      const colour = [...data.subarray(0, 3)];
      const far = colour.map((v, i) => Math.abs(v - expected[i]!));
      // libvips applies a profile to CMYK, Pillow does not.
      const most = code.includes("CMYK") ? 40 : 3;
      assert.ok(Math.max(...far) <= most, `${colour} for ${expected}`);
    }
  },
});

Deno.test("damaged and huge images are rejected before their pixels are allocated", async () => {
  const sound = await corners("jpeg");
  const refused = async (bytes: Uint8Array, code: string) =>
    await assert.rejects(thumbnailer.make(bytes, 256), (error) => {
      assert.ok(error instanceof ImageError);
      assert.equal(error.code, code);
      return true;
    });
  await refused(sound.subarray(0, sound.length >> 1), "bad-image");
  await refused(new Uint8Array(1000), "bad-image");
  const bomb = await corners("png");
  const view = new DataView(bomb.buffer, bomb.byteOffset);
  view.setUint32(16, 30_000);
  view.setUint32(20, 30_000);
  view.setUint32(29, crc32(bomb.subarray(12, 29)));
  await refused(bomb, "image-too-large");
});
