/** Decoding to a short edge is equivalent to decoding and resizing. */
import assert from "node:assert/strict";
import { imageCodec, ImageError } from "../../../src/codecs/image/mod.ts";
import { assertClose, pillow, testImage } from "../../support/images.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

/** File, and the Pillow code that makes it from the RGB image `rgb`. */
const FILES: readonly (readonly [string, string])[] = [
  ["420.jpg", "rgb.save(p, quality=90, subsampling=2)"],
  ["progressive.jpg", "rgb.save(p, quality=90, progressive=True)"],
  ["gray.jpg", "rgb.convert('L').save(p, quality=90)"],
  ["cmyk.jpg", "rgb.convert('CMYK').save(p, quality=90)"],
  [
    "rotated.jpg",
    "exif = Image.Exif(); exif[0x112] = 6; rgb.save(p, quality=90, exif=exif)",
  ],
  ["rgb.png", "rgb.save(p)"],
  ["rgba.png", "rgb.putalpha(rgb.getchannel('R')); rgb.save(p)"],
  ["gray.png", "rgb.convert('L').save(p)"],
  [
    "gray_alpha.png",
    "a = rgb.convert('LA'); a.putalpha(rgb.getchannel('R')); a.save(p)",
  ],
  ["palette.png", "rgb.convert('P').save(p)"],
  ["bits.png", "rgb.convert('1').save(p)"],
];

/**
 * Tolerances, since gray is computed before or after resizing. No edge is small enough for a JPEG to be decoded at a
 * fraction.
 */
const SHORT_EDGES = [
  [120, { mean: 0.5, max: 2 }],
  [97, { mean: 0, max: 0 }],
  [60, { mean: 0.8, max: 9 }],
  [20, { mean: 1.8, max: 9 }],
] as const;

/** Writes all files with Pillow, in one process. */
async function writeFiles(dir: string): Promise<void> {
  const { data, width, height } = testImage(131, 97);
  await Deno.writeFile(`${dir}/pixels`, data);
  const each = FILES.map(([file, save]) => `
p = '${dir}/${file}'
rgb = Image.frombytes('RGB', (${width}, ${height}), pixels)
${save}`);
  await pillow(`pixels = open('${dir}/pixels', 'rb').read()${each.join("")}`);
}

for (const name of ["imagescript", "sharp", "turbojpeg"] as const) {
  Deno.test({
    name: `${name}: decoding to a short edge equals decoding and resizing`,
    ...needs("pillow"),
    async fn() {
      const codec = await imageCodec(name);
      await withTempDir(async (dir) => {
        await writeFiles(dir);
        for (const [file] of FILES) {
          const bytes = await Deno.readFile(`${dir}/${file}`);
          for (const colorspace of ["RGB", "GRAY", "ANY"] as const) {
            for (const [shortEdge, most] of SHORT_EDGES) {
              const what = `${file} ${colorspace} ${shortEdge}`;
              const image = await codec.decode(bytes, {
                colorspace,
                shortEdge,
              });
              const expected = await codec.resizeShortEdge(
                await codec.decode(bytes, { colorspace }),
                shortEdge,
              );
              const { data, ...size } = image;
              const { data: pixels, ...expectedSize } = expected;
              assert.deepEqual(size, expectedSize, what);
              assertClose(data, pixels, most, what);
              if (colorspace !== "ANY") continue;
              // Encoding and decoding once more changes it slightly.
              const options = { shortEdge, quality: 100, reencode: true };
              const jpeg = await codec.jpegFromImageFile(bytes, options);
              const { data: again } = await codec.decode(jpeg);
              assertClose(again, pixels, { mean: 3, max: 30 }, what);
            }
          }
        }
      });
    },
  });

  Deno.test(`${name}: a short edge must be a valid number, and the image not too large`, async () => {
    const codec = await imageCodec(name);
    const jpeg = await codec.encode(testImage(200, 2));
    await assert.rejects(
      () => codec.decode(jpeg, { shortEdge: 2.5 }),
      RangeError,
    );
    await assert.rejects(
      () => codec.decode(jpeg, { shortEdge: 4000 }),
      (error) =>
        error instanceof ImageError && error.code === "image-too-large",
    );
  });
}
