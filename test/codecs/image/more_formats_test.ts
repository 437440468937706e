/** Every kind of WebP, AVIF, GIF and TIFF that Pillow reads decodes to what Pillow reads; others are rejected by name. */
import assert from "node:assert/strict";
import {
  type ImageCodec,
  imageCodec,
  ImageError,
  readImageHeader,
} from "../../../src/codecs/image/mod.ts";
import { pictureSize } from "../../../src/codecs/image/picture_size.ts";
import { assertClose } from "../../support/images.ts";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";

const SCRIPT = fromFileUrl(
  new URL("python/write_pictures.py", import.meta.url),
);

interface Written {
  /** Mode in which Pillow opens it, and its width and height. */
  readonly read: Readonly<Record<string, readonly [string, number, number]>>;
  /** What the message says of a picture that is not decoded. */
  readonly refused: Readonly<Record<string, string>>;
}

async function withPictures(
  run: (written: Written, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const { success, stderr } = await new Deno.Command(PYTHON, {
      args: [SCRIPT, dir],
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    await run(JSON.parse(await Deno.readTextFile(`${dir}/index.json`)), dir);
  });
}

/** libheif converts from YCbCr in its own way, and repeats chroma where libavif interpolates it. */
function toleranceOf(name: string): { mean: number; max: number } {
  if (/^(444|lossless|turned.)\.avif$/.test(name)) return { mean: 0.2, max: 1 };
  if (name.endsWith(".avif")) return { mean: 0.8, max: 6 };
  if (name === "extra1.tif") return { mean: 0.01, max: 1 }; // divided by alpha
  return { mean: 0, max: 0 };
}

async function assertDecodes(
  codec: ImageCodec,
  name: string,
  [mode, width, height]: Written["read"][string],
  dir: string,
): Promise<void> {
  const bytes = await Deno.readFile(`${dir}/${name}`);
  const header = readImageHeader(bytes);
  assert.deepEqual([header.width, header.height], [width, height], name);
  assert.equal(header.hasAlpha, /A$/.test(mode) || isClear(name), name);
  if (name !== "no_screen.gif" && !name.startsWith("beyond")) {
    assert.deepEqual(pictureSize(bytes), { width, height }, name);
  }
  const rgb = await Deno.readFile(`${dir}/${name}.rgb`);
  const image = await codec.decode(bytes, { colorspace: "RGB" });
  assert.deepEqual([image.width, image.height], [width, height], name);
  assertClose(image.data, rgb, toleranceOf(name), name);
  const isGray = name.endsWith(".tif") && /^(1|L|LA|I;16B?)$/.test(mode);
  const any = await codec.decode(bytes);
  assert.equal(any.channels, isGray ? 1 : 3, name);
  const rgba = await codec.decodeWithAlpha(bytes);
  const channels = (isGray ? 1 : 3) + (header.hasAlpha ? 1 : 0);
  assert.equal(rgba.channels, channels, name);
  const expected = await Deno.readFile(`${dir}/${name}.rgba`);
  const picked = expected.filter((_, i) =>
    isGray ? i % 4 === 0 || i % 4 === 3 && channels === 2 : i % 4 < channels
  );
  assertClose(rgba.data, picked, toleranceOf(name), `${name} with alpha`);
}

/** Whether a GIF has a transparent index, which Pillow's mode does not say. */
function isClear(name: string): boolean {
  return /transparent|alpha/.test(name) && name.endsWith(".gif");
}

Deno.test({
  name: "WebP, AVIF, GIF and TIFF have Pillow's pixels, also with alpha",
  ...needs("pillow"),
  async fn() {
    const codec = await imageCodec("sharp");
    await withPictures(async ({ read, refused }, dir) => {
      assert.ok(Object.keys(read).length > 80);
      for (const [name, facts] of Object.entries(read)) {
        await assertDecodes(codec, name, facts, dir);
      }
      for (const [name, words] of Object.entries(refused)) {
        const bytes = await Deno.readFile(`${dir}/${name}`);
        await assert.rejects(
          codec.decode(bytes, { path: name }),
          (error: ImageError) => {
            assert.equal(error.code, "unsupported-image", name);
            const start = `Cannot decode ${name}: this TIFF has ${words}`;
            assert.ok(error.message.startsWith(start), error.message);
            return true;
          },
        );
      }
    });
  },
});
