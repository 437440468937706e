/** Damaged and hostile WebP, AVIF, GIF and TIFF end in an ImageError, soon, before a decoder allocates memory. */
import assert from "node:assert/strict";
import sharp from "sharp";
import {
  imageCodec,
  ImageError,
  readImageHeader,
} from "../../../src/codecs/image/mod.ts";
import { pictureSize } from "../../../src/codecs/image/picture_size.ts";
import { Thumbnailer } from "../../../src/codecs/image/thumbnail.ts";
import { testImage } from "../../support/images.ts";
import { LONG } from "../../support/long.ts";
import fc from "../../support/random.ts";

const { data, height, width, channels } = testImage(90, 70);
const made = () => sharp(data, { raw: { height, width, channels } });
const bytesOf = async (pipeline: ReturnType<typeof made>) =>
  new Uint8Array(await pipeline.toBuffer());

const PICTURES: Readonly<Record<string, Uint8Array>> = {
  "lossy.webp": await bytesOf(made().webp()),
  "lossless.webp": await bytesOf(made().webp({ lossless: true })),
  "alpha.webp": await bytesOf(made().ensureAlpha(0.5).webp()),
  "a.avif": await bytesOf(made().avif({ effort: 0 })),
  "a.gif": await bytesOf(made().gif({ effort: 1 })),
  "lzw.tif": await bytesOf(made().tiff({ compression: "lzw" })),
  "deflate.tif": await bytesOf(made().tiff({ compression: "deflate" })),
  "jpeg.tif": await bytesOf(made().tiff({ compression: "jpeg" })),
  "plain.tif": await bytesOf(made().tiff({ compression: "none" })),
  "tiles.tif": await bytesOf(
    made().tiff({ tile: true, tileWidth: 32, tileHeight: 32 }),
  ),
  "big.tif": await bytesOf(made().tiff({ bigtiff: true, predictor: "none" })),
};

const codec = await imageCodec("sharp");

/** Decodes to an image that fits its fields, or throws an ImageError that names the file. */
async function isDecoded(bytes: Uint8Array): Promise<boolean> {
  try {
    const image = await codec.decode(bytes, { path: "cat.tif" });
    assert.equal(
      image.data.length,
      image.height * image.width * image.channels,
    );
    const { length } = (await codec.decodeWithAlpha(bytes, "cat.tif")).data;
    assert.ok(length >= image.data.length);
    return true;
  } catch (error) {
    assert.ok(error instanceof ImageError, `${(error as Error).stack}`);
    assert.match(error.message, /^Cannot decode cat\.tif: /);
    return false;
  }
}

Deno.test("a picture of any format is decoded whole, and rejected if it is truncated anywhere", async () => {
  for (const [name, whole] of Object.entries(PICTURES)) {
    assert.ok(await isDecoded(whole), name);
    const step = Math.ceil(whole.length / 40);
    for (let length = 0; length < whole.length * 0.9; length += step) {
      const cut = whole.subarray(0, length);
      assert.ok(!await isDecoded(cut), `${name}, ${length}`);
      pictureSize(cut);
    }
  }
});

Deno.test("changed bytes give an image or an error, and do not affect later pictures", async () => {
  const sound = PICTURES["lossy.webp"]!;
  const expected = await codec.decode(sound);
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(PICTURES)),
      // Mostly in the header, whose fields lead further.
      fc.array(
        fc.tuple(fc.oneof(fc.nat(200), fc.nat()), fc.nat(255)),
        { minLength: 1, maxLength: 6 },
      ),
      async (whole, changes) => {
        const bytes = whole.slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        pictureSize(bytes);
        if (!await isDecoded(bytes)) refused++;
        assert.deepEqual(await codec.decode(sound), expected);
      },
    ),
    { numRuns: LONG ? 600 : 120 },
  );
  assert.ok(refused > 20);
});

function rejectedAs(code: ImageError["code"], words: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof ImageError, `${error}`);
    assert.equal(error.code, code);
    assert.match(error.message, words);
    return true;
  };
}

/** Returns a picture with other bytes where a text is, or from an offset. */
function changed(
  name: string,
  at: string | number,
  after: number,
  ...words: readonly number[]
): Uint8Array {
  const bytes = PICTURES[name]!.slice();
  const start = typeof at === "number"
    ? at
    : new TextDecoder("latin1").decode(bytes).indexOf(at);
  assert.ok(start >= 0);
  bytes.set(words, start + after);
  return bytes;
}

/** Changes a tag of a little-endian TIFF. */
function retagged(name: string, tag: number, value: number): Uint8Array {
  const bytes = PICTURES[name]!.slice();
  const view = new DataView(bytes.buffer);
  const page = view.getUint32(4, true);
  const count = view.getUint16(page, true);
  for (let i = 0; i < count; i++) {
    const at = page + 2 + i * 12;
    if (view.getUint16(at, true) !== tag) continue;
    view.setUint16(at + 2, 4, true); // LONG
    view.setUint32(at + 4, 1, true);
    view.setUint32(at + 8, value, true);
    return bytes;
  }
  throw new Error(`no tag ${tag}`);
}

Deno.test("a claimed size beyond the limit is rejected before decoding, in every format", () => {
  const huge = [
    changed("alpha.webp", "VP8X", 12, 0x9f, 0x86, 1, 0x9f, 0x86, 1),
    changed("a.avif", "ispe", 8, 0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0),
    changed("a.gif", 6, 0, 0xff, 0xff, 0xff, 0xff),
    retagged("plain.tif", 256, 2 ** 31),
  ];
  for (const bytes of huge) {
    assert.throws(
      () => readImageHeader(bytes),
      rejectedAs("image-too-large", /^it claims \d+ × \d+ pixels, more than/),
    );
    const size = pictureSize(bytes)!;
    assert.ok(size.width * size.height > 2 ** 27);
  }
});

Deno.test("a size that the bytes cannot hold is rejected before decoding", () => {
  for (const at of [6, 0x2c]) { // the screen, and the first frame
    const bytes = PICTURES["a.gif"]!;
    const start = at === 6
      ? 6
      : bytes.indexOf(at, 13 + 3 * (2 << (bytes[10]! & 7))) + 5;
    assert.throws(
      () => readImageHeader(changed("a.gif", start, 0, 0x40, 0x2d, 0x40, 0x2d)),
      rejectedAs(
        "bad-image",
        /11584 × 11584 pixels, which \d+ bytes cannot hold/,
      ),
    );
  }
  for (const name of ["lzw", "deflate", "jpeg", "plain"]) {
    const bytes = retagged(`${name}.tif`, 257, 1_400_000);
    assert.throws(
      () => readImageHeader(bytes),
      rejectedAs("bad-image", /bytes cannot hold/),
    );
  }
});

Deno.test("a frame that is larger than its AVIF says is rejected without memory for it", async () => {
  const background = { r: 9, g: 9, b: 9 };
  const create = {
    height: 2000,
    width: 2000,
    channels: 3,
    background,
  } as const;
  const large = await bytesOf(sharp({ create }).avif({ effort: 0 }));
  const size = new TextDecoder("latin1").decode(large).indexOf("ispe");
  const small = large.slice();
  small.set([0, 0, 0, 16, 0, 0, 0, 16], size + 8);
  await assert.rejects(
    codec.decode(small),
    rejectedAs("bad-image", /sharp: heif: .*exceeds the maximum image size/),
  );
});

Deno.test("a TIFF's tiles, tags and offsets are not believed", () => {
  const tile = retagged("tiles.tif", 322, 2 ** 30);
  assert.throws(
    () => readImageHeader(tile),
    rejectedAs("unsupported-image", /tiles of 1073741824 × 32 pixels/),
  );
  for (
    const [name, at, bytes] of [
      ["plain.tif", 4, [0xff, 0xff, 0xff, 0xff]],
      ["big.tif", 8, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
      ["big.tif", 8, [8, 0, 0, 0, 0, 0, 0, 0]], // a number of tags that are the header's own bytes
    ] as const
  ) {
    assert.throws(
      () => readImageHeader(changed(name, at, 0, ...bytes)),
      rejectedAs("bad-image", /no valid header/),
    );
  }
});

Deno.test("pages and frames that lead to themselves end", async () => {
  const bytes = PICTURES["plain.tif"]!.slice();
  const view = new DataView(bytes.buffer);
  const page = view.getUint32(4, true);
  view.setUint32(page + 2 + view.getUint16(page, true) * 12, page, true);
  await isDecoded(bytes);
  const boxes = changed("a.avif", "ispe", -4, 0, 0, 0, 0); // a box to the end of its parent
  await isDecoded(boxes);
  await isDecoded(changed("a.avif", "meta", -4, 0, 0, 0, 1));
});

Deno.test("imagescript rejects what only sharp decodes, and names it", async () => {
  const imagescript = await imageCodec("imagescript");
  for (
    const [name, format] of [
      ["a.avif", "AVIF"],
      ["a.gif", "GIF"],
      ["lossy.webp", "WebP"],
      ["lzw.tif", "TIFF"],
    ] as const
  ) {
    const words = new RegExp(
      `^Cannot decode cat: ${format} pictures need the codec 'sharp'.*--allow-ffi`,
    );
    await assert.rejects(
      imagescript.decode(PICTURES[name]!, { path: "cat" }),
      rejectedAs("codec-unavailable", words),
    );
    await assert.rejects(
      imagescript.decodeWithAlpha(PICTURES[name]!, "cat"),
      ImageError,
    );
  }
});

Deno.test("turbojpeg has sharp decode other formats, scale them, and make JPEGs of them", async () => {
  const turbo = await imageCodec("turbojpeg");
  for (const [name, bytes] of Object.entries(PICTURES)) {
    const options = { shortEdge: 35, path: name };
    const image = await turbo.decode(bytes, options);
    assert.deepEqual([image.height, image.width], [35, 45], name);
    assert.deepEqual(image, await codec.decode(bytes, options), name);
    const jpeg = await turbo.jpegFromImageFile(bytes, options);
    const { format, ...size } = readImageHeader(jpeg);
    assert.deepEqual([format, size.height, size.width], ["jpeg", 35, 45]);
  }
});

Deno.test("thumbnails are made of every format, also of a sequence of AVIF", async () => {
  const thumbnailer = await Thumbnailer.load();
  const sequence = changed("a.avif", 8, 0, 0x61, 0x76, 0x69, 0x73);
  for (const bytes of [...Object.values(PICTURES), sequence]) {
    const small = await thumbnailer.make(bytes, 30);
    const { info } = await sharp(small.bytes).raw().toBuffer({
      resolveWithObject: true,
    });
    assert.deepEqual([info.width, info.height], [30, 23]);
    await thumbnailer.verify(bytes);
  }
  assert.ok(await isDecoded(sequence));
});
