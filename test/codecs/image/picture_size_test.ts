import assert from "node:assert/strict";
import { pictureSize } from "../../../src/codecs/image/picture_size.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { withTempDir } from "../../support/paths.ts";

/** Writes an image of 37 × 21 in each format, and in the variants that have headers of their own. */
const SCRIPT = `
import sys
from PIL import Image
picture = Image.new("RGB", (37, 21), (200, 10, 30))
d = sys.argv[1]
picture.save(d + "/a.png")
picture.save(d + "/a.jpg")
picture.save(d + "/progressive.jpg", progressive=True)
picture.save(d + "/exif.jpg", exif=b"Exif\\0\\0" + b"x" * 60000)
picture.save(d + "/a.gif")
picture.save(d + "/a.bmp")
picture.save(d + "/lossy.webp")
picture.save(d + "/lossless.webp", lossless=True)
picture.convert("RGBA").save(d + "/extended.webp", exif=b"Exif\\0\\0x")
`;

Deno.test({
  name: "the size of an image is read from its first bytes, in every format",
  ...needs("pillow"),
  async fn() {
    await withTempDir(async (dir) => {
      const { success, stderr } = await new Deno.Command(PYTHON, {
        args: ["-c", SCRIPT, dir],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      const entries = await Array.fromAsync(Deno.readDir(dir));
      const names = entries.map(({ name }) => name);
      assert.equal(names.length, 9);
      for (const name of names) {
        const bytes = await Deno.readFile(`${dir}/${name}`);
        assert.deepEqual(pictureSize(bytes), { width: 37, height: 21 }, name);
        // A truncated file has the same size or none, never a different one or an error.
        for (let length = 0; length < Math.min(bytes.length, 700); length++) {
          const size = pictureSize(bytes.subarray(0, length));
          if (size !== undefined) {
            assert.deepEqual(
              size,
              { width: 37, height: 21 },
              `${name}, ${length}`,
            );
          }
        }
      }
    });
  },
});

Deno.test("content that is not an image has no size", () => {
  for (
    const text of [
      "",
      "plain text",
      "\x89PNG",
      "GIF89",
      "BM",
      "RIFF    WEBPVP8 ",
    ]
  ) {
    assert.equal(pictureSize(new TextEncoder().encode(text)), undefined);
  }
  // Segments that point nowhere, or to themselves.
  const jpeg = Uint8Array.of(
    0xff,
    0xd8,
    0xff,
    0xe0,
    0,
    0,
    0xff,
    0xe0,
    0xff,
    0xff,
    0,
    0,
  );
  assert.equal(pictureSize(jpeg), undefined);
  assert.equal(pictureSize(new Uint8Array(100).fill(0xff)), undefined);
});
