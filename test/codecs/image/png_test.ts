/** PNG with and without alpha, compared with Pillow. */
import assert from "node:assert/strict";
import {
  type AlphaImage,
  encodePng,
  imageCodec,
  type ImageCodecName,
} from "../../../src/codecs/image/mod.ts";
import { testImage } from "../../support/images.ts";
import { pillow } from "../../support/images.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const MODES = { 1: "L", 2: "LA", 3: "RGB", 4: "RGBA" } as const;
const CODECS: ImageCodecName[] = ["imagescript", "sharp", "turbojpeg"];

/** Makes an image of this many channels; with 2 or 4, the last is alpha. */
function picture(
  channels: AlphaImage["channels"],
  width = 37,
  height = 23,
): AlphaImage {
  const { data } = testImage(width * channels, height, 1);
  return { data, height, width, channels };
}

for (const channels of [1, 2, 3, 4] as const) {
  Deno.test({
    name: `Pillow reads the exact pixels of a PNG of ${channels} channels`,
    ...needs("pillow"),
    fn: () =>
      withTempDir(async (dir) => {
        for (const [width, height] of [[37, 23], [1, 1], [1, 9], [300, 2]]) {
          const image = picture(channels, width, height);
          await Deno.writeFile(`${dir}/image.png`, await encodePng(image));
          const read = await pillow(
            "i = Image.open(sys.argv[1]); out.write(f'{i.mode} {i.size[0]} '.encode() + i.tobytes())",
            `${dir}/image.png`,
          );
          const head = new TextEncoder().encode(`${MODES[channels]} ${width} `);
          assert.deepEqual(new Uint8Array(read.subarray(0, head.length)), head);
          assert.deepEqual(
            new Uint8Array(read.subarray(head.length)),
            image.data,
          );
        }
      }),
  });

  for (const name of CODECS) {
    Deno.test({
      name: `${name} decodes Pillow's PNG of ${channels} channels with alpha`,
      ...needs("pillow"),
      async fn() {
        const codec = await imageCodec(name);
        const png = await pillow(
          "shape = tuple(map(int, sys.argv[2].split()))\n" +
            "a = (np.arange(np.prod(shape)) * 7 % 251).astype('u1').reshape(shape)\n" +
            "Image.fromarray(a, sys.argv[1]).save(out, 'png')",
          MODES[channels],
          channels === 1 ? "19 31" : `19 31 ${channels}`,
        );
        const data = Uint8Array.from(
          { length: 19 * 31 * channels },
          (_, i) => i * 7 % 251,
        );
        const expected = { data, height: 19, width: 31, channels };
        assert.deepEqual(await codec.decodeWithAlpha(png), expected);
      },
    });
  }
}

for (const name of CODECS) {
  Deno.test(`${name} decodes a JPEG without alpha`, async () => {
    const codec = await imageCodec(name);
    const jpeg = await codec.encode(testImage(16, 8), 90);
    assert.deepEqual(
      await codec.decodeWithAlpha(jpeg),
      await codec.decode(jpeg),
    );
    await assert.rejects(
      () => codec.decodeWithAlpha(jpeg.subarray(0, 40), "a.jpg"),
      { name: "ImageError", code: "bad-image", path: "a.jpg" },
    );
  });
}

Deno.test("a PNG is compressed, and made only from valid images", async () => {
  const slope = Uint8Array.from({ length: 256 * 256 }, (_, i) => i % 256);
  const image = { data: slope, height: 256, width: 256, channels: 1 } as const;
  assert.ok((await encodePng(image)).length < 2000);
  for (const wrong of [{ width: 255 }, { channels: 5 }, { height: 0 }]) {
    await assert.rejects(
      () => encodePng({ ...image, ...wrong } as AlphaImage),
      TypeError,
    );
  }
});
