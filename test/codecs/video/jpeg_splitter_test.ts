import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { JpegSplitter } from "../../../src/codecs/video/video_frames.ts";

/** Segment with any content, including bytes that look like markers. */
const segment = fc.tuple(
  fc.constantFrom(0xc0, 0xc4, 0xdb, 0xe0, 0xe1, 0xfe),
  fc.array(fc.constantFrom(0, 1, 0xff, 0xd8, 0xd9, 0xda), { maxLength: 20 }),
).map(([code, content]) => [0xff, code, 0, content.length + 2, ...content]);

/** Entropy-coded data: FF is followed by 0, or by RST0 to RST7. */
const entropy = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 0xfe }).map((byte) => [byte]),
    fc.constant([0xff, 0]),
    fc.integer({ min: 0xd0, max: 0xd7 }).map((code) => [0xff, code]),
  ),
  { maxLength: 30 },
).map((parts) => parts.flat());

const scan = fc.tuple(fc.array(segment, { maxLength: 3 }), entropy).map((
  [segments, data],
) => [...segments.flat(), 0xff, 0xda, 0, 4, 0xff, 0xd9, ...data]);

const jpeg = fc.tuple(fc.array(scan, { maxLength: 3 }), fc.nat(2)).map((
  [scans, fill],
) =>
  Uint8Array.from([
    ...[0xff, 0xd8],
    ...scans.flat(),
    ...Array.from({ length: fill }, () => 0xff),
    ...[0xff, 0xd9],
  ])
);

/** Splits bytes into pieces of the given lengths, repeating the list of lengths. */
function* pieces(bytes: Uint8Array, lengths: readonly number[]) {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length]!;
    yield bytes.slice(at, at += length);
  }
}

Deno.test("a stream of JPEGs is split where each ends, however it arrives", () => {
  fc.assert(fc.property(
    fc.array(jpeg, { maxLength: 6 }),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
    (jpegs, lengths) => {
      const stream = Uint8Array.from(jpegs.flatMap((bytes) => [...bytes]));
      const splitter = new JpegSplitter();
      const cut = [...pieces(stream, lengths)];
      const found = cut.flatMap((piece) => [...splitter.push(piece)]);
      for (const piece of cut) piece.fill(0x55); // JPEGs have memory of their own
      assert.deepEqual(found, jpegs);
      assert.equal(splitter.inside, false);
    },
  ));
});

Deno.test("a stream that ends within a JPEG is detected", () => {
  const bytes = Uint8Array.of(0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 2, 0xff, 0xd9);
  for (let length = 1; length < bytes.length; length++) {
    const splitter = new JpegSplitter();
    assert.deepEqual([...splitter.push(bytes.subarray(0, length))], []);
    assert.equal(splitter.inside, true);
  }
});

Deno.test("a stream of something else is rejected", () => {
  for (
    const bytes of [[1], [0xff, 0xd9], [0xff, 0xd8, 0], [0xff, 0xd8, 0xff, 0]]
  ) {
    const splitter = new JpegSplitter();
    assert.throws(
      () => [...splitter.push(Uint8Array.from(bytes))],
      SyntaxError,
    );
  }
});
