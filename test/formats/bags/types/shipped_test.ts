/** Types with built-in encoders and decoders, and those of text and media. */
import assert from "node:assert/strict";
import {
  type Decoders,
  decodersOf,
  type Encoders,
  encodersOf,
  ValueError,
} from "../../../../src/formats/bags/types/mod.ts";
import type { Encoder } from "../../../../src/formats/bags/types/shipped.ts";
import type { AlphaImage } from "../../../../src/codecs/image/mod.ts";
import { assertClose, pillow, testImage } from "../../../support/images.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { hex } from "../../../support/programs/python.ts";

/** Type words in formats.py of bags and granular. */
const WORDS = "array bytes i64 int jpeg jpg mp4 msgpack png tree u64 utf8 webm"
  .split(" ");

for (const generation of [1, 2, 3] as const) {
  Deno.test(`generation ${generation} has exactly the type words of the originals`, () => {
    const encoders: Encoders = encodersOf(generation);
    const decoders: Decoders = decodersOf(generation);
    assert.deepEqual(Object.keys(encoders).toSorted(), WORDS);
    // Types of granular 0.8.1 are read, but not written.
    const read = generation === 1 ? ["arraytree", ...WORDS] : WORDS;
    assert.deepEqual(Object.keys(decoders).toSorted(), read.toSorted());
    for (const word of ["constructor", "__proto__", "toString", "own"]) {
      assert.equal(encoders[word], undefined);
      assert.equal(decoders[word], undefined);
    }
  });
}

Deno.test("custom and redefined type words coexist with the built-in ones", () => {
  const upper: Encoder = (text: string) =>
    new TextEncoder().encode(text.toUpperCase());
  const encoders: Encoders = { ...encodersOf(2), own: upper, utf8: upper };
  for (const word of ["own", "utf8"]) {
    assert.deepEqual(encoders[word]!("ab" as never), hex("4142"));
  }
});

const { bytes: encodeBytes, utf8: encodeUtf8 } = encodersOf(3) as Record<
  string,
  (value: unknown) => Uint8Array
>;

Deno.test("bytes and videos are passed unchanged", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  for (const word of ["bytes", "mp4", "webm"]) {
    assert.equal(decodersOf(3)[word]!(bytes), bytes);
    assert.deepEqual(encodersOf(3)[word]!(bytes as never), bytes);
  }
  assert.deepEqual(encodeBytes!(bytes.buffer), bytes);
  assert.deepEqual(encodeBytes!(Uint16Array.of(0x201)), hex("0102"));
  for (const value of ["text", [1, 2], 5, null, undefined]) {
    assert.throws(
      () => encodeBytes!(value),
      /type 'bytes' must be a Uint8Array/,
    );
  }
});

Deno.test("text is UTF-8, without loss", () => {
  for (const text of ["", "a", "\ufeffa", "é\0😀"]) {
    const bytes = encodeUtf8!(text).slice();
    assert.deepEqual(bytes, new Uint8Array(new TextEncoder().encode(text)));
    assert.equal(decodersOf(3).utf8!(bytes), text);
  }
  for (const value of ["\ud800", 5, null]) {
    assert.throws(() => encodeUtf8!(value), TypeError);
  }
  for (const digits of ["ff", "c080", "eda080", "61c3"]) {
    assert.throws(() => decodersOf(3).utf8!(hex(digits)), (error) => {
      assert.ok(error instanceof ValueError && error.code === "bad-value");
      assert.match(
        error.message,
        /Not a valid 'utf8': its bytes are not UTF-8/,
      );
      return true;
    });
  }
});

async function encoded(word: string, image: unknown, ...args: string[]) {
  return (await encodersOf(1)[word]!(image as never, ...args)).slice();
}

Deno.test("jpeg takes a quality, by default 75", async () => {
  const image = testImage(64, 48);
  const plain = await encoded("jpeg", image);
  assert.deepEqual(await encoded("jpg", image), plain);
  assert.deepEqual(await encoded("jpeg", image, "75"), plain);
  const [low, high] = [
    await encoded("jpeg", image, "20"),
    await encoded("jpeg", image, "95"),
  ];
  assert.ok(low.length < plain.length && plain.length < high.length);
  const read = await decodersOf(1).jpeg!(high, "95") as AlphaImage;
  assertClose(read.data, image.data, { mean: 2, max: 30 }, "quality 95");
});

Deno.test("arguments and values that images do not have are rejected", async () => {
  const image = testImage(8, 8);
  for (const args of [["0"], ["101"], ["x"], [""], ["80", "1"], ["80.5"]]) {
    await assert.rejects(() => encoded("jpeg", image, ...args), {
      name: "ValueError",
      code: "bad-arguments",
    });
  }
  await assert.rejects(() => encoded("png", image, "9"), {
    code: "bad-arguments",
  });
  const alpha = { ...image, channels: 4, data: new Uint8Array(256) };
  await assert.rejects(() => encoded("jpeg", alpha), TypeError);
  assert.ok((await encoded("png", alpha)).length > 0);
  for (const word of ["jpeg", "jpg", "png"]) {
    const decode = decodersOf(3)[word]!;
    for (const digits of ["", "00", "ffd8ff", "89504e470d0a1a0a"]) {
      await assert.rejects(async () => await decode(hex(digits)), {
        name: "ImageError",
      });
    }
  }
});

Deno.test({
  name: "Pillow reads the images (needs pillow)",
  ...needs("pillow"),
  fn: () =>
    withTempDir(async (dir) => {
      const image = testImage(33, 21);
      for (const [word, most] of [["png", 0], ["jpeg", 40]] as const) {
        const path = `${dir}/image.${word}`;
        await Deno.writeFile(path, await encoded(word, image));
        const pixels = await pillow(
          "out.write(np.asarray(Image.open(sys.argv[1])).tobytes())",
          path,
        );
        assertClose(pixels, image.data, { mean: most / 10, max: most }, word);
      }
    }),
});
