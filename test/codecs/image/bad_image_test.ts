/** Damaged and hostile images end in an ImageError, quickly, in bounded memory, with both codecs. */
import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { LONG } from "../../support/long.ts";
import fc from "../../support/random.ts";
import {
  type ImageCodec,
  imageCodec,
  ImageError,
} from "../../../src/codecs/image/mod.ts";
import { testImage } from "../../support/images.ts";

const NAMES = ["imagescript", "sharp", "turbojpeg"] as const;

/** Makes a PNG whose rows all use filter 0. */
function png(width: number, height: number, rows: Uint8Array): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 2, 0, 0, 0], 8);
  const chunks = [
    chunk("IHDR", header),
    chunk("IDAT", new Uint8Array(deflateSync(rows))),
    chunk("IEND", new Uint8Array(0)),
  ];
  return Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...chunks.flatMap((bytes) => [...bytes]),
  ]);
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, crc32(bytes.subarray(4, -4)));
  return bytes;
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1) * 0xedb88320;
  }
  return ~crc >>> 0;
}

/** Asserts that the bytes decode to an image that fits its fields, or to an ImageError that names the file. */
async function assertDecodesOrRefuses(
  codec: ImageCodec,
  bytes: Uint8Array,
): Promise<boolean> {
  try {
    const { data, height, width, channels } = await codec.decode(bytes, {
      path: "cat.jpg",
    });
    assert.equal(data.length, height * width * channels);
    return true;
  } catch (error) {
    assert.ok(error instanceof ImageError, `${(error as Error).stack}`);
    assert.match(error.message, /^Cannot decode cat\.jpg: /);
    return false;
  }
}

const rows = new Uint8Array(40 * (1 + 30 * 3)).map((_, i) => i % 91 && i);
const PNG = png(30, 40, rows);

for (const name of NAMES) {
  Deno.test(`${name}: the PNG made here is valid`, async () => {
    const { data } = await (await imageCodec(name)).decode(PNG);
    const expected = rows.filter((_, i) => i % 91 !== 0);
    assert.deepEqual(data, expected);
  });

  Deno.test(`${name}: an image truncated anywhere is rejected`, async () => {
    const codec = await imageCodec(name);
    const jpeg = await codec.encode(testImage(120, 90), 90);
    for (const whole of [jpeg, PNG]) {
      assert.ok(await assertDecodesOrRefuses(codec, whole));
      const step = Math.ceil(whole.length / 60);
      // The last bytes of a PNG's stream and of a JPEG may be missing without loss.
      for (let length = 0; length < whole.length * 0.9; length += step) {
        const cut = whole.subarray(0, length);
        assert.ok(!await assertDecodesOrRefuses(codec, cut), `${length}`);
      }
    }
  });

  Deno.test(`${name}: changed bytes yield an image or an error, and do not affect later images`, async () => {
    const codec = await imageCodec(name);
    const sound = testImage(50, 40);
    const jpeg = await codec.encode(sound, 90);
    const expected = await codec.decode(jpeg);
    const gray = await codec.encode(testImage(50, 40, 1), 90);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(jpeg, gray, PNG),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), {
          minLength: 1,
          maxLength: 8,
        }),
        async (whole, changes) => {
          const bytes = whole.slice();
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          if (!await assertDecodesOrRefuses(codec, bytes)) refused++;
          assert.deepEqual(await codec.decode(jpeg), expected);
        },
      ),
      { numRuns: LONG ? 300 : 100 },
    );
    assert.ok(refused > 30);
  });

  Deno.test(`${name}: garbage after a valid beginning is rejected`, async () => {
    const codec = await imageCodec(name);
    const jpeg = await codec.encode(testImage(50, 40), 90);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(jpeg, PNG),
        fc.nat(200),
        fc.uint8Array({ maxLength: 400 }),
        async (whole, keep, rest) => {
          const bytes = Uint8Array.from([...whole.subarray(0, keep), ...rest]);
          await assertDecodesOrRefuses(codec, bytes);
        },
      ),
      { numRuns: LONG ? 200 : 70 },
    );
  });

  Deno.test(`${name}: a claimed size is not trusted`, async () => {
    const codec = await imageCodec(name);
    const jpeg = await codec.encode(testImage(50, 40), 90);
    const frame = jpeg.findIndex((byte, i) =>
      byte === 0xff && jpeg[i + 1] === 0xc0
    );
    const view = new DataView(jpeg.buffer);
    view.setUint16(frame + 5, 60_000);
    view.setUint16(frame + 7, 60_000);
    const huge = PNG.slice();
    new DataView(huge.buffer).setUint32(16, 60_000);
    new DataView(huge.buffer).setUint32(20, 2_000);
    for (
      const [bytes, code] of [[jpeg, "image-too-large"], [
        huge,
        "bad-image",
      ]] as const
    ) {
      await assert.rejects(
        () => codec.decode(bytes),
        (error) =>
          error instanceof ImageError && error.code === code &&
          error.cause === undefined, // rejected before decoding
      );
    }
  });
}
