// deno-lint-ignore-file camelcase -- the keys of expect.json
import assert from "node:assert/strict";
import {
  type ImageCodec,
  imageCodec,
  type ImageCodecName,
  readImageHeader,
} from "../../../src/codecs/image/mod.ts";
import { sha256 } from "../../support/golden.ts";
import { assertClose, samplingOf, testImage } from "../../support/images.ts";

const NAMES: readonly ImageCodecName[] = ["imagescript", "sharp", "turbojpeg"];

/** Tolerance of decoders, which may round differently, and blend subsampled colour differently at edges. */
const DECODED = { mean: 0.3, max: 8 };

/** Loss of JPEG at quality 90 on the images of `testImage`. */
const ENCODED = { mean: 3, max: 30 };

function testEach(
  name: string,
  body: (codec: ImageCodec) => Promise<void>,
): void {
  for (const codec of NAMES) {
    Deno.test(`${codec}: ${name}`, async () => {
      await body(await imageCodec(codec));
    });
  }
}

function gray(pixels: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: pixels.length / 3 }, (_, i) => {
    const [red, green, blue] = pixels.subarray(3 * i);
    return Math.round(0.299 * red! + 0.587 * green! + 0.114 * blue!);
  });
}

testEach("encoded images are decoded, at any size", async (codec) => {
  for (const [width, height] of [[64, 48], [1, 1], [7, 9], [3, 500]] as const) {
    for (const channels of [1, 3] as const) {
      const image = testImage(width, height, channels);
      const jpeg = await codec.encode(image, 90);
      const decoded = await codec.decode(jpeg);
      assert.deepEqual(
        [decoded.width, decoded.height, decoded.channels],
        [width, height, channels],
      );
      assertClose(decoded.data, image.data, ENCODED, `${width} × ${height}`);
    }
  }
});

testEach(
  "JPEGs are not subsampled; gray ones have one component",
  async (codec) => {
    const colour = await codec.encode(testImage(40, 30, 3));
    assert.deepEqual(samplingOf(colour), [0x11, 0x11, 0x11]);
    const grayJpeg = await codec.encode(testImage(40, 30, 1));
    assert.equal(samplingOf(grayJpeg).length, 1);
  },
);

testEach("a better quality is closer and larger", async (codec) => {
  const image = testImage(160, 120);
  let before = { size: 0, error: Infinity };
  for (const quality of [10, 50, 90, 100]) {
    const jpeg = await codec.encode(image, quality);
    const { data } = await codec.decode(jpeg);
    let error = 0;
    data.forEach((value, i) => error += (value - image.data[i]!) ** 2);
    assert.ok(jpeg.length > before.size && error < before.error, `${quality}`);
    before = { size: jpeg.length, error };
  }
  const [unnamed, named] = await Promise.all([
    codec.encode(image),
    codec.encode(image, 90),
  ]);
  assert.deepEqual(unnamed, named);
});

testEach(
  "colour spaces: gray stays gray unless RGB is requested",
  async (codec) => {
    const colour = await codec.encode(testImage(40, 30, 3), 95);
    const rgb = await codec.decode(colour, { colorspace: "RGB" });
    assert.equal(rgb.channels, 3);
    assert.deepEqual(await codec.decode(colour, { colorspace: "ANY" }), rgb);
    const toGray = await codec.decode(colour, { colorspace: "GRAY" });
    assert.equal(toGray.channels, 1);
    assertClose(toGray.data, gray(rgb.data), { mean: 0.1, max: 1 }, "BT.601");

    const grayJpeg = await codec.encode(testImage(40, 30, 1), 95);
    const any = await codec.decode(grayJpeg, { colorspace: "ANY" });
    assert.equal(any.channels, 1);
    assert.deepEqual(await codec.decode(grayJpeg, { colorspace: "GRAY" }), any);
    const asRgb = await codec.decode(grayJpeg, { colorspace: "RGB" });
    assert.equal(asRgb.channels, 3);
    assert.deepEqual(
      asRgb.data,
      Uint8Array.from({ length: 3600 }, (_, i) => any.data[Math.trunc(i / 3)]!),
    );
  },
);

testEach(
  "the bytes may be anywhere in a buffer, and are not changed",
  async (codec) => {
    const jpeg = await codec.encode(testImage(32, 24), 90);
    const shifted = new Uint8Array(jpeg.length + 10).subarray(3, -7);
    shifted.set(jpeg);
    assert.deepEqual(await codec.decode(shifted), await codec.decode(jpeg));
    assert.deepEqual(shifted, jpeg);
  },
);

testEach("concurrent calls do not mix", async (codec) => {
  const sizes = Array.from({ length: 40 }, (_, i) => [8 + i, 60 - i] as const);
  await Promise.all(sizes.map(async ([width, height]) => {
    const image = testImage(width, height);
    const decoded = await codec.decode(await codec.encode(image, 90));
    assertClose(decoded.data, image.data, ENCODED, `${width} × ${height}`);
  }));
});

testEach("invalid arguments are rejected", async (codec) => {
  const image = testImage(8, 8);
  for (const quality of [0, 101, 1.5, NaN]) {
    await assert.rejects(() => codec.encode(image, quality), RangeError);
    const jpeg = await codec.encode(image);
    await assert.rejects(
      () => codec.jpegFromImageFile(jpeg, { quality }),
      RangeError,
    );
  }
  const short = { ...image, data: image.data.subarray(1) };
  await assert.rejects(() => codec.encode(short), {
    name: "TypeError",
    message: /8 rows, 8 columns and 3 channels cannot have 191 bytes/,
  });
  await assert.rejects(() => codec.resizeShortEdge(short, 4), TypeError);
  await assert.rejects(() => codec.resizeShortEdge(image, 1.5), RangeError);
});

interface GoldenVideo {
  readonly chunk: number;
  readonly frame_info: readonly (readonly [number, number, number])[];
  readonly frames: readonly {
    readonly index: number;
    readonly sha256: string;
    readonly width: number;
    readonly height: number;
    readonly channels: 1 | 3;
  }[];
}

const GOLDEN = new URL("../../golden/gulp/", import.meta.url);

for (const version of ["v1", "v2"]) {
  Deno.test(`both codecs decode the frames of ${version} alike, to the known size`, async () => {
    const dir = new URL(`${version}_gray_and_rgb/`, GOLDEN);
    const expected = JSON.parse(
      await Deno.readTextFile(new URL("expect.json", dir)),
    ).content.videos as GoldenVideo[];
    const codecs = await Promise.all(NAMES.map(imageCodec));
    const seen = new Set<number>();
    for (const { chunk, frames, frame_info: table } of expected) {
      const data = await Deno.readFile(new URL(`gulp/data_${chunk}.gulp`, dir));
      for (const frame of frames) {
        const [offset, pad, length] = table[frame.index]!;
        const jpeg = data.subarray(offset, offset + length - pad);
        assert.equal(sha256(jpeg), frame.sha256);
        const [one, other] = await Promise.all(
          codecs.map((codec) => codec.decode(jpeg)),
        );
        for (const { height, width, channels } of [one!, other!]) {
          assert.deepEqual(
            { height, width, channels },
            {
              height: frame.height,
              width: frame.width,
              channels: frame.channels,
            },
          );
        }
        assertClose(one!.data, other!.data, DECODED, frame.sha256);
        seen.add(readImageHeader(jpeg).channels);
      }
    }
    assert.deepEqual([...seen].toSorted(), [1, 3]);
  });
}
