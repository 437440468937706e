/** Every kind of JPEG and PNG that Pillow writes decodes to the pixels that Pillow reads. */
import assert from "node:assert/strict";
import { imageCodec, readImageHeader } from "../../../src/codecs/image/mod.ts";
import { assertClose, pillow, testImage } from "../../support/images.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

/** File, the Pillow code that makes it from the RGB image `rgb`, and the expected mode. */
const FILES: readonly (readonly [string, string, "RGB" | "L"])[] = [
  ["444.jpg", "rgb.save(p, quality=90, subsampling=0)", "RGB"],
  ["422.jpg", "rgb.save(p, quality=90, subsampling=1)", "RGB"],
  ["420.jpg", "rgb.save(p, quality=90, subsampling=2)", "RGB"],
  ["progressive.jpg", "rgb.save(p, quality=90, progressive=True)", "RGB"],
  ["optimized.jpg", "rgb.save(p, quality=90, optimize=True)", "RGB"],
  ["gray.jpg", "rgb.convert('L').save(p, quality=90)", "L"],
  ["cmyk.jpg", "rgb.convert('CMYK').save(p, quality=90)", "RGB"],
  [
    "rotated.jpg", // EXIF orientation 6: not applied
    "exif = Image.Exif(); exif[0x112] = 6; rgb.save(p, quality=90, exif=exif)",
    "RGB",
  ],
  ["rgb.png", "rgb.save(p)", "RGB"],
  ["rgba.png", "rgb.convert('RGBA').save(p)", "RGB"],
  ["gray.png", "rgb.convert('L').save(p)", "L"],
  ["gray_alpha.png", "rgb.convert('LA').save(p)", "L"],
  ["palette.png", "rgb.convert('P').save(p)", "RGB"],
  ["bits.png", "rgb.convert('1').save(p)", "L"],
];

/** Tolerances; imagescript's decoder rounds differently. */
const TOLERANCE = {
  imagescript: { mean: 0.3, max: 6 },
  sharp: { mean: 0.02, max: 2 },
  turbojpeg: { mean: 0, max: 0 },
};

const SIZE = { width: 131, height: 97 };

/** Writes all files with Pillow in one process, with the pixels it reads in a file next to each. */
async function writeFiles(dir: string): Promise<void> {
  const { data, width, height } = testImage(SIZE.width, SIZE.height);
  await Deno.writeFile(`${dir}/pixels`, data);
  const each = FILES.map(([file, save, mode]) => `
p = '${dir}/${file}'
rgb = Image.frombytes('RGB', (${width}, ${height}), pixels)
${save}
open(p + '.read', 'wb').write(Image.open(p).convert('${mode}').tobytes())`);
  await pillow(`pixels = open('${dir}/pixels', 'rb').read()${each.join("")}`);
}

for (const name of ["imagescript", "sharp", "turbojpeg"] as const) {
  Deno.test({
    name: `${name} reads what Pillow reads`,
    ...needs("pillow"),
    async fn() {
      const codec = await imageCodec(name);
      const { width, height } = SIZE;
      await withTempDir(async (dir) => {
        await writeFiles(dir);
        for (const [file, , mode] of FILES) {
          const bytes = await Deno.readFile(`${dir}/${file}`);
          const expected = await Deno.readFile(`${dir}/${file}.read`);
          const image = await codec.decode(bytes);
          const channels = mode === "L" ? 1 : 3;
          assert.deepEqual(
            [image.width, image.height, image.channels],
            [width, height, channels],
            file,
          );
          assert.equal(readImageHeader(bytes).channels, channels);
          assertClose(image.data, expected, TOLERANCE[name], file);
        }
      });
    },
  });

  Deno.test({
    name: `Pillow reads what ${name} encodes`,
    ...needs("pillow"),
    async fn() {
      const codec = await imageCodec(name);
      await withTempDir(async (dir) => {
        for (const channels of [1, 3] as const) {
          const image = testImage(61, 45, channels);
          const path = `${dir}/image.jpg`;
          await Deno.writeFile(path, await codec.encode(image, 90));
          const read = await pillow(
            "i = Image.open(sys.argv[1]); out.write(i.mode.encode() + i.tobytes())",
            path,
          );
          const mode = channels === 1 ? "L" : "RGB";
          assert.equal(
            new TextDecoder().decode(read.subarray(0, mode.length)),
            mode,
          );
          const pixels = read.subarray(mode.length);
          assertClose(pixels, image.data, { mean: 3, max: 30 }, mode);
        }
      });
    },
  });
}
