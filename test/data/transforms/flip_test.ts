import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { Random } from "../../../src/data/random/random.ts";
import {
  Normalize,
  RandHorFlip,
  RandVerFlip,
} from "../../../src/data/transforms/mod.ts";
import { numberedImage } from "../../support/numbered_image.ts";

const edge = fc.integer({ min: 1, max: 30 });
const channels = fc.constantFrom<(1 | 3)[]>(1, 3);
const random = () => new Random(1);

Deno.test("flips mirror each pixel, and two flips cancel out", () => {
  const horizontal = new RandHorFlip(1);
  const vertical = new RandVerFlip(1);
  fc.assert(fc.property(edge, edge, channels, (width, height, channels) => {
    const image = numberedImage(width, height, channels);
    const before = image.data.slice();
    const left = horizontal.apply(image, random());
    const down = vertical.apply(image, random());
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        for (let c = 0; c < channels; c++) {
          const value = image.data[(y * width + x) * channels + c];
          const mirrored = y * width + width - 1 - x;
          assert.equal(left.data[mirrored * channels + c], value);
          const below = (height - 1 - y) * width + x;
          assert.equal(down.data[below * channels + c], value);
        }
      }
    }
    assert.deepEqual(horizontal.apply(left, random()), image);
    assert.deepEqual(vertical.apply(down, random()), image);
    assert.deepEqual(image.data, before, "what was given is as it was");
  }));
});

Deno.test("real numbers are flipped like bytes", () => {
  const image = numberedImage(5, 4, 3);
  const norm = new Normalize([1, 2, 3], [4, 5, 6]);
  for (const flip of [new RandHorFlip(1), new RandVerFlip(1)]) {
    const first = flip.apply(norm.apply(image), random());
    const last = norm.apply(flip.apply(image, random()));
    assert.deepEqual(first.data, last.data);
    const plain = { ...norm.apply(image) };
    assert.deepEqual(flip.apply(plain, random()), { ...first });
  }
});

Deno.test("a flip has the given probability", () => {
  const image = numberedImage(2, 2, 1);
  for (const Flip of [RandHorFlip, RandVerFlip]) {
    for (
      const [probability, least, most] of [[0, 0, 0], [0.25, 425, 575], [
        1,
        2000,
        2000,
      ]] as const
    ) {
      const flip = new Flip(probability);
      let flipped = 0;
      for (let i = 0; i < 2000; i++) {
        if (flip.apply(image, new Random(9, 0, i)).data[0] !== 1) flipped++;
      }
      assert.ok(flipped >= least && flipped <= most, `${flipped}`);
    }
    let half = 0;
    for (let i = 0; i < 2000; i++) {
      if (new Flip().apply(image, new Random(9, 0, i)).data[0] !== 1) half++;
    }
    assert.ok(half > 910 && half < 1090, `${half} of 1000`);
    for (const probability of [-0.1, 1.1, NaN]) {
      assert.throws(() => new Flip(probability), RangeError);
    }
  }
});
