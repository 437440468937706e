import assert from "node:assert/strict";
import { ImageError, readImageHeader } from "../../../src/codecs/image/mod.ts";
import { jpegLength } from "../../../src/codecs/image/jpeg_scanner.ts";

/** Returns a JPEG segment: marker, length, content. */
function segment(code: number, ...content: number[]): number[] {
  const length = content.length + 2;
  return [0xff, code, length >> 8, length & 255, ...content];
}

/** Returns a SOF segment: precision, rows, columns, components. */
function frame(
  code: number,
  height: number,
  width: number,
  components: number,
  bits = 8,
): number[] {
  const sizes = [height >> 8, height & 255, width >> 8, width & 255];
  const each = Array.from({ length: components }, (_, i) => [i + 1, 0x11, 0]);
  return segment(code, bits, ...sizes, components, ...each.flat());
}

/** Returns a JPEG of these segments, long enough for the pixels that its header claims. */
function jpeg(...segments: number[][]): Uint8Array {
  const filler = Array.from({ length: 100_000 }, () => 0);
  const scan = segment(0xda, 1, 1, 0, 0, 63, 0);
  const parts = [[0xff, 0xd8], ...segments, scan, filler, [0xff, 0xd9]];
  return Uint8Array.from(parts.flat());
}

/** Returns the first 33 bytes of a PNG, and some more. */
function png(
  width: number,
  height: number,
  depth: number,
  type: number,
  size = 100,
): Uint8Array {
  const bytes = new Uint8Array(33 + size);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, 13);
  bytes.set(new TextEncoder().encode("IHDR"), 12);
  view.setUint32(16, width);
  view.setUint32(20, height);
  bytes.set([depth, type], 24);
  return bytes;
}

function assertRefused(bytes: Uint8Array, code: string, words: RegExp): void {
  assert.throws(() => readImageHeader(bytes, "cat.jpg"), (error) => {
    assert.ok(error instanceof ImageError);
    assert.equal(error.code, code);
    assert.equal(error.path, "cat.jpg");
    assert.match(error.message, /^Cannot decode cat\.jpg: /);
    assert.match(error.message, words);
    return true;
  });
}

const APP0 = segment(0xe0, 1, 2, 3);
/** Thumbnail with markers of its own, including EOI. */
const THUMBNAIL = segment(
  0xe1,
  0xff,
  0xd8,
  ...frame(0xc0, 9, 9, 1),
  0xff,
  0xd9,
);

Deno.test("the size is that of the frame, not of a thumbnail in an earlier segment", () => {
  for (const code of [0xc0, 0xc1, 0xc2]) {
    assert.deepEqual(
      readImageHeader(
        jpeg(APP0, THUMBNAIL, segment(0xc4, 0), frame(code, 300, 500, 3)),
      ),
      {
        format: "jpeg",
        height: 300,
        width: 500,
        channels: 3,
        hasAlpha: false,
        isCmyk: false,
      },
    );
  }
});

Deno.test("components distinguish gray, colour and CMYK; fill bytes before markers are skipped", () => {
  const gray = readImageHeader(jpeg([0xff, 0xff], frame(0xc0, 8, 8, 1)));
  assert.deepEqual([gray.channels, gray.isCmyk], [1, false]);
  const cmyk = readImageHeader(jpeg(frame(0xc0, 8, 8, 4)));
  assert.deepEqual([cmyk.channels, cmyk.isCmyk], [3, true]);
});

Deno.test("PNG: size and channels by colour type", () => {
  for (const [type, channels] of [[0, 1], [2, 3], [3, 3], [4, 1], [6, 3]]) {
    assert.deepEqual(readImageHeader(png(30, 20, 8, type!)), {
      hasAlpha: type! >= 4,
      format: "png",
      height: 20,
      width: 30,
      channels,
      isCmyk: false,
    });
  }
});

Deno.test("content of another format is rejected by name", () => {
  const bmp = new TextEncoder().encode("BM and more");
  assertRefused(
    bmp,
    "unsupported-image",
    /not a JPEG, PNG, WebP, AVIF, GIF or/,
  );
  assertRefused(new Uint8Array(0), "unsupported-image", /not a JPEG/);
  const gif = new TextEncoder().encode("GIF89a and more");
  assertRefused(gif, "bad-image", /this GIF has no valid header/);
});

Deno.test("kinds of JPEG that no codec here reads are rejected", () => {
  assertRefused(
    jpeg(frame(0xc1, 8, 8, 3, 12)),
    "unsupported-image",
    /12 bits and 3 components/,
  );
  assertRefused(
    jpeg(frame(0xc0, 8, 8, 2)),
    "unsupported-image",
    /2 components/,
  );
});

Deno.test("a JPEG without a frame, or truncated before it, is damaged", () => {
  assertRefused(jpeg(APP0), "bad-image", /no frame header/);
  const whole = Uint8Array.from([0xff, 0xd8, ...APP0, ...frame(0xc0, 8, 8, 3)]);
  const sofEnds = 2 + APP0.length + 10;
  for (let length = 2; length < sofEnds; length++) {
    assertRefused(whole.subarray(0, length), "bad-image", /no frame header/);
  }
  assertRefused(jpeg(segment(0xe0, 1), [1, 2]), "bad-image", /no frame/);
});

Deno.test("a size of 0 is damage", () => {
  assertRefused(jpeg(frame(0xc0, 0, 8, 3)), "bad-image", /8 × 0 pixels/);
  assertRefused(png(0, 20, 8, 2), "bad-image", /0 × 20 pixels/);
});

Deno.test("a size beyond the limit, or beyond what the bytes can hold, is rejected", () => {
  assertRefused(
    jpeg(frame(0xc0, 65_535, 65_535, 3)),
    "image-too-large",
    /65535 × 65535/,
  );
  assertRefused(
    Uint8Array.from([0xff, 0xd8, ...frame(0xc0, 8_000, 8_000, 3)]),
    "bad-image",
    /8000 × 8000 pixels, which 21 bytes cannot hold/,
  );
  assertRefused(png(8_000, 8_000, 8, 2), "bad-image", /cannot hold/);
  assertRefused(png(2 ** 31, 2 ** 31, 8, 2), "image-too-large", /pixels/);
  readImageHeader(png(800, 100, 1, 0)); // 10 KB of bits are possible with deflate
});

Deno.test("a PNG without IHDR, truncated, or of an unknown colour type, is damaged", () => {
  assertRefused(png(8, 8, 8, 2).subarray(0, 32), "bad-image", /header/);
  assertRefused(png(8, 8, 8, 5), "bad-image", /header/);
  const other = png(8, 8, 8, 2);
  other[12] = 0x4a;
  assertRefused(other, "bad-image", /header/);
});

Deno.test("jpegLength() finds the end, not bytes that look like it", () => {
  const [stuffed, restart] = [[0xff, 0x00], [0xff, 0xd3]];
  const bytes = Uint8Array.from([
    ...[0xff, 0xd8],
    ...THUMBNAIL,
    ...segment(0xda, 1, 0xff, 0xd9),
    ...[1, 2, ...stuffed, 3, ...restart, 4, 0xff],
    ...segment(0xc4, 0xff, 0xd9), // a progressive JPEG's tables between scans
    ...segment(0xda),
    ...[5, 0xff, 0xff, 0xd9],
  ]);
  const padded = Uint8Array.from([...bytes, 0, 0xff, 0xd9]);
  assert.equal(jpegLength(padded), bytes.length);
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(jpegLength(bytes.subarray(0, length)), undefined);
  }
  assert.equal(jpegLength(Uint8Array.of(0xff, 0xd8, 1)), undefined);
  assert.equal(
    jpegLength(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 1, 0xff, 0xd9)),
    undefined, // a length that does not include itself
  );
});
