/** Steps that are planned together have the same result as one after the other. */
import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  CenterCrop,
  Compose,
  ComposeVideo,
  DecodeImage,
  Normalize,
  NormalizeVideo,
  type Picture,
  RandHorFlip,
  Random,
  RandomCrop,
  RandomResizedCrop,
  RandomResizedCropVideo,
  RandVerFlip,
  Resize,
  Scale,
  ScaleVideo,
  type Step,
  ToArray,
  ToArrayVideo,
  UnitNorm,
} from "../../../src/open/data/mod.ts";
import { type Image } from "../../../src/codecs/image/image.ts";
import { type NdArray } from "../../../src/codecs/numpy/nd_array.ts";
import { ImageError } from "../../../src/codecs/image/mod.ts";
import { RECIPE } from "../../../src/data/recipe.ts";
import { FULL } from "../../support/long.ts";
import { REPOSITORY } from "../../support/paths.ts";

const read = (name: string) =>
  Deno.readFileSync(`${REPOSITORY}test/golden/pictures/${name}.jpg`);
const JPEGS = ["420", "422", "444_progressive", "gray"].map(read);

// deno-lint-ignore no-explicit-any -- steps of any kind
type AnyStep = Step<any, any>;

const edge = fc.integer({ min: 1, max: 160 });
const small = fc.integer({ min: 1, max: 30 });
const size = fc.oneof(edge, fc.record({ height: edge, width: edge }));

/** Steps for images. Random crops come after a resize, so that they fit into the image. */
const steps: fc.Arbitrary<AnyStep[]> = fc.oneof(
  size.map((size) => [new Scale(size as number)]),
  size.map((size) => [new Resize(size as number)]),
  size.map((size) => [new CenterCrop(size)]),
  small.map((size) => [new Scale(30), new RandomCrop(size)]),
  small.map((padding) => [new RandomCrop(1, { padding, padMode: "edge" })]),
  size.map((size) => [new RandomResizedCrop(size)]),
  fc.constantFrom<AnyStep[]>([new RandHorFlip()], [new RandVerFlip()]),
  fc.constant<AnyStep[]>([(image: Image) => ({ ...image })]),
);

const last: fc.Arbitrary<AnyStep[]> = fc.constantFrom<AnyStep[]>(
  [],
  [new ToArray({ dtype: "uint8" })],
  [new Normalize(0.5, 0.25, { scale: 1 / 255 }), new ToArray()],
  [new Normalize(0.5, 0.25), new RandHorFlip(), new ToArray()],
  [new Normalize(0.4, 0.3), new CenterCrop(1), new ToArray()],
  [new ToArray({ layout: "channels-last", scale: 1 / 255 })],
  [new RandHorFlip(1), new ToArray({ layout: "channels-last" })],
  [new ToArray({ dtype: "float16", scale: 1 / 3 })],
  [new UnitNorm()],
);

Deno.test("any chain has the same result as its steps one after the other", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...JPEGS),
      fc.constantFrom("RGB", "GRAY", "ANY"),
      fc.array(steps, { maxLength: 4 }),
      last,
      fc.nat(1000),
      async (jpeg, colorspace, middle, last, seed) => {
        const decode = new DecodeImage({
          colorspace: colorspace as "RGB",
          exact: true,
        });
        const rest = [...middle.flat(), ...last];
        const chain = new Compose<Image | NdArray>(
          [decode, ...rest] as unknown as [AnyStep],
        );
        const planned = await chain.apply(jpeg, new Random(seed));
        const random = new Random(seed);
        let value: unknown = await decode.apply(jpeg);
        for (const step of rest) {
          value = await new Compose([step]).apply(value, random);
        }
        assert.deepEqual({ ...planned }, { ...value as Image });
      },
    ),
    { numRuns: FULL ? 300 : 100 },
  );
});

Deno.test("clips are planned too, with one region for all frames", async () => {
  const clip = new ComposeVideo<NdArray>(
    [new DecodeImage({ colorspace: "RGB", exact: true })],
    [new ScaleVideo(60), new RandomResizedCropVideo(32), new ToArrayVideo()],
  );
  const single = new Compose<NdArray>([
    new ScaleVideo(60),
    new RandomResizedCropVideo(32),
    new ToArrayVideo(),
  ]);
  const frames = [JPEGS[0]!, JPEGS[0]!, JPEGS[1]!];
  const made = await clip.apply(frames, new Random(5));
  assert.deepEqual(made.shape, [3, 3, 32, 32]);
  const decode = new DecodeImage({ colorspace: "RGB" });
  const images = [];
  for (const jpeg of frames) images.push(await decode.apply(jpeg));
  const random = new Random(5);
  random.uint32(); // consumed by the steps of images
  random.uint32();
  assert.deepEqual(await single.apply(images, random), made);
});

/** Clip of two frames: the first unchanged, the second flipped and repeated, as at the end of a short clip. */
class FlippedTwice {
  apply([first, second]: Picture[]): Picture[] {
    const flipped = new RandHorFlip(1).apply(second!, new Random(1));
    return [first!, flipped, flipped];
  }

  [RECIPE](): undefined {}
}

for (const name of ["422", "gray"]) {
  const layouts = [
    "channels-first",
    "channels-last",
    "channels-outermost",
  ] as const;
  for (const layout of layouts) {
    Deno.test(`values of ${name} frames, ${layout}, equal those of a loop over pixels`, async () => {
      const jpeg = read(name);
      const decode = new DecodeImage({ exact: true });
      const { data, height, width, channels } = await decode.apply(jpeg);
      const mean = channels === 1 ? 0.45 : [0.485, 0.456, 0.406];
      const std = channels === 1 ? 0.225 : [0.229, 0.224, 0.225];
      const clip = new ComposeVideo<NdArray>([decode], [
        new NormalizeVideo(mean, std, { scale: 1 / 255 }),
        new FlippedTwice(),
        new ToArrayVideo({ layout, scale: 0.7 }),
      ]);
      const made = await clip.apply([jpeg, jpeg], new Random(1));
      const of = (value: number | number[], c: number) =>
        typeof value === "number" ? value : value[c]!;
      const expected = new Float32Array(3 * data.length);
      const at = {
        "channels-first": (t: number, c: number, y: number, x: number) =>
          ((t * channels + c) * height + y) * width + x,
        "channels-last": (t: number, c: number, y: number, x: number) =>
          ((t * height + y) * width + x) * channels + c,
        "channels-outermost": (t: number, c: number, y: number, x: number) =>
          ((c * 3 + t) * height + y) * width + x,
      }[layout];
      for (let t = 0; t < 3; t++) {
        for (let c = 0; c < channels; c++) {
          const divisor = of(std, c) + 1e-8;
          const factor = 1 / 255 / divisor * 0.7;
          const offset = -of(mean, c) / divisor * 0.7;
          for (let y = 0; y < height; y++) {
            for (let x = 0; x < width; x++) {
              const from = t === 0 ? x : width - 1 - x;
              const pixel = data[(y * width + from) * channels + c]!;
              expected[at(t, c, y, x)] = pixel * factor + offset;
            }
          }
        }
      }
      assert.deepEqual(made.data, expected);
    });
  }
}

Deno.test("images that a function keeps, or that end a chain, do not depend on the file's bytes", async () => {
  const kept: Picture[] = [];
  const normalize = new Normalize(0.5, 0.25, { scale: 1 / 255 });
  const keep = (picture: Picture) => ({
    picture: kept[kept.push(picture) - 1]!,
  });
  const chains = [
    [new DecodeImage(), new Scale(20), keep],
    [new DecodeImage(), new Scale(20), normalize, keep],
    [new DecodeImage(), new Scale(20), normalize],
  ] as unknown as AnyStep[][];
  for (const chain of chains) {
    const made: Picture[] = [];
    for (const isOverwritten of [false, true]) {
      const bytes = JPEGS[0]!.slice();
      const value = await new Compose<Picture | { picture: Picture }>(
        chain as [AnyStep],
      ).apply(bytes, new Random(1));
      if (isOverwritten) bytes.fill(0);
      made.push("picture" in value ? value.picture : value);
    }
    assert.deepEqual(made[1]!.data, made[0]!.data);
  }
});

Deno.test("a damaged image is an error of the chain, wherever the damage is", async () => {
  const chain = new Compose<NdArray>([
    new DecodeImage(),
    new Scale(64),
    new CenterCrop(16),
    new ToArray(),
  ]);
  for (const jpeg of JPEGS) {
    for (const kept of [jpeg.length - 2, jpeg.length - 100, 700]) {
      await assert.rejects(
        async () => await chain.apply(jpeg.subarray(0, kept), new Random(1)),
        ImageError,
      );
    }
  }
});

Deno.test("RandomResizedCrop crops like torchvision: areas, proportions, and the centre if none fits", async () => {
  const jpeg = JPEGS[0]!; // 131 × 97
  const image = await new DecodeImage().apply(jpeg);
  const parts: { area: number; aspect: number }[] = [];
  // Each pixel encodes its position, so that the corners of the result identify the cropped region.
  const { height, width } = image;
  const across = new Uint8Array(height * width * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      across.set([x, y, 0], (y * width + x) * 3);
    }
  }
  const step = new RandomResizedCrop(64, {
    scale: [0.2, 0.5],
    ratio: [0.5, 2],
  });
  for (let seed = 0; seed < 400; seed++) {
    const made = step.apply({ ...image, data: across }, new Random(seed));
    const at = (x: number, y: number) => made.data.subarray((y * 64 + x) * 3);
    const wide = (at(63, 32)[0]! - at(0, 32)[0]!) * 64 / 63;
    const high = (at(32, 63)[1]! - at(32, 0)[1]!) * 64 / 63;
    parts.push({ area: wide * high / (height * width), aspect: wide / high });
  }
  const areas = parts.map(({ area }) => area);
  assert.ok(Math.min(...areas) > 0.15 && Math.max(...areas) < 0.56);
  const mean = areas.reduce((sum, area) => sum + area) / areas.length;
  assert.ok(Math.abs(mean - 0.35) < 0.03, `${mean}`);
  const logs = parts.map(({ aspect }) => Math.log(aspect));
  assert.ok(Math.min(...logs) < -0.5 && Math.max(...logs) > 0.5);
  const whole = new RandomResizedCrop({ height: 97, width: 131 }, {
    scale: [1, 1],
    ratio: [131 / 97, 131 / 97],
  });
  assert.deepEqual(whole.apply(image, new Random(1)), image);
  const never = new RandomResizedCrop(97, { scale: [1, 1], ratio: [1, 1] });
  const middle = new CenterCrop(97).apply(image);
  assert.deepEqual(never.apply(image, new Random(1)).data, middle.data);
  for (const wrong of [[0, 1], [2, 1], [1, Infinity]] as [number, number][]) {
    assert.throws(
      () => new RandomResizedCrop(9, { scale: wrong }),
      /The scale of RandomResizedCrop must be/,
    );
  }
});
