import assert from "node:assert/strict";
import type { Image } from "../../../src/codecs/image/mod.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { Random } from "../../../src/data/random/random.ts";
import {
  followRecipe,
  type Portable,
  RECIPE,
} from "../../../src/data/recipe.ts";
import {
  AllFrames,
  CenterCrop,
  CenterCropVideo,
  Compose,
  ComposeVideo,
  DecodeImage,
  JitterCrop,
  JitterCropVideo,
  Normalize,
  NormalizeVideo,
  RandHorFlip,
  RandHorFlipVideo,
  RandomCrop,
  RandomCropVideo,
  RandomResizedCrop,
  RandomResizedCropVideo,
  RandVerFlip,
  RandVerFlipVideo,
  Resize,
  ResizeVideo,
  type SampleTransform,
  Scale,
  ScaleVideo,
  type Step,
  ToArray,
  ToArrayVideo,
  UnitNorm,
  UnitNormVideo,
} from "../../../src/data/transforms/mod.ts";
import { testImage } from "../../support/images.ts";

const OWN = new URL("../../support/own_transforms.ts", import.meta.url);

Deno.test("steps run in sequence and share one stream of random numbers", async () => {
  const seen: unknown[] = [];
  const chain = new Compose([
    new CenterCrop(8),
    (image: Image, random: Random) => {
      seen.push([image.width, random.uint32()]);
      return "first";
    },
    (text: string, random: Random) => [text, random.uint32()],
  ]);
  const result = await chain.apply(testImage(20, 10), new Random(4));
  const random = new Random(4);
  assert.deepEqual(seen, [[8, random.uint32()]]);
  assert.deepEqual(result, ["first", random.uint32()]);
});

Deno.test("a chain of synchronous steps is synchronous; without steps it changes nothing", () => {
  const image = testImage(20, 10);
  const part = new Compose([new Scale(5), new CenterCrop(5)])
    .apply(image, new Random(1));
  assert.ok(!(part instanceof Promise));
  assert.deepEqual([part.width, part.height], [5, 5]);
  assert.equal(new Compose([]).apply(image, new Random(1)), image);
});

Deno.test("steps may be modules: functions, by default or by name, and whole chains", async () => {
  const image = testImage(6, 6);
  const inverted = image.data.map((value) => 255 - value);
  const chain = new Compose<Image>([
    OWN,
    { module: OWN, name: "brighten" },
    { module: OWN.href, name: "chain" },
  ]);
  const by = new Random(3).int(200);
  const expected = new CenterCrop(4).apply(
    { ...image, data: inverted.map((value) => value + by).map((v) => 255 - v) },
  );
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await chain.apply(image, new Random(3)), expected);
  }
  const missing = new Compose([{ module: OWN, name: "nothing" }]);
  await assert.rejects(
    async () => await missing.apply(image, new Random(3)),
    /has no export 'nothing'/,
  );
});

Deno.test("a value that is not a step is rejected at once", () => {
  for (const step of [undefined, null, 3, "CenterCrop", {}, [new Scale(3)]]) {
    const steps = [step as unknown as Step<unknown, unknown>] as const;
    assert.throws(() => new Compose(steps), /A transform must be/);
    assert.throws(() => new ComposeVideo([], steps), /A transform must be/);
    assert.throws(() => new AllFrames(steps[0]), /A transform must be/);
  }
});

Deno.test("steps in the wrong order are reported", () => {
  const cases: [Compose<unknown>, RegExp][] = [
    [
      new Compose([new UnitNorm(), new Scale(5)]),
      /Scale takes pixels that are bytes/,
    ],
    [
      new Compose([new ToArray(), new CenterCrop(5)]),
      /CenterCrop takes a picture.*ToArray\) last/,
    ],
    [new Compose([new ToArray(), new ToArray()]), /ToArray takes a picture/],
    [
      new Compose([new UnitNorm(), new CenterCrop(50)]),
      /enlarge, takes pixels that are bytes/,
    ],
    [
      new Compose([new RandHorFlipVideo()]),
      /RandHorFlipVideo takes the frames of a clip/,
    ],
    [
      new Compose([new ComposeVideo()]),
      /ComposeVideo takes the frames of a clip/,
    ],
  ];
  for (const [chain, message] of cases) {
    assert.throws(
      () => chain.apply(testImage(20, 10), new Random(1)),
      (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

const IMAGE_STEPS: readonly SampleTransform<never, unknown>[] = [
  new CenterCrop(7),
  new CenterCrop({ height: 5, width: 6 }),
  new JitterCrop([4, 6], { padding: 2, padMode: "edge" }),
  new Normalize([1, 2, 3], [4, 5, 6], { scale: 1 / 255 }),
  new Normalize(7, 9),
  new RandHorFlip(0.3),
  new RandVerFlip(0.7),
  new RandomCrop(9, { padding: { left: 1, top: 2, right: 3, bottom: 4 } }),
  new RandomResizedCrop({ height: 5, width: 7 }, { scale: [0.1, 0.6] }),
  new Resize({ height: 3, width: 9 }),
  new Scale(11),
  new ToArray({ dtype: "float16", scale: 0.1, layout: "channels-last" }),
  new UnitNorm(),
  new Compose([new RandomCrop(9), OWN as Step<Image, Image>, new UnitNorm()]),
];

const VIDEO_STEPS: readonly SampleTransform<never, unknown>[] = [
  new AllFrames(new RandomCrop(6)),
  new AllFrames(OWN as Step<Image, Image>),
  new CenterCropVideo(4),
  new ComposeVideo([new RandHorFlip()], [new RandomCropVideo(5)]),
  new ComposeVideo(),
  new JitterCropVideo([2, 5]),
  new NormalizeVideo(3, 4),
  new RandHorFlipVideo(),
  new RandomCropVideo(5, { padding: 4 }),
  new RandVerFlipVideo(0.1),
  new RandomResizedCropVideo(6, { ratio: [1, 2] }),
  new ResizeVideo(9),
  new ScaleVideo({ height: 9, width: 4 }),
  new ToArrayVideo({ layout: "channels-outermost", dtype: "uint8" }),
  new UnitNormVideo(),
];

/** Returns the value as another thread would make it again. */
async function sent<T extends Portable>(value: T): Promise<T> {
  const recipe = value[RECIPE]();
  assert.ok(recipe !== undefined);
  return (await followRecipe(structuredClone(recipe))) as T;
}

Deno.test("every transform can be made in another thread, with the same results there", async () => {
  const image = testImage(23, 17);
  const clip = [image, testImage(23, 17, 3)];
  clip[1]!.data.reverse();
  const cases = [
    ...IMAGE_STEPS.map((step) => [step, image] as const),
    ...VIDEO_STEPS.map((step) => [step, clip] as const),
  ];
  for (const [step, value] of cases) {
    const other = await sent(step);
    for (let i = 0; i < 6; i++) {
      assert.deepEqual(
        await other.apply(value as never, new Random(2, 0, i)),
        await step.apply(value as never, new Random(2, 0, i)),
        step.constructor.name,
      );
    }
  }
  const decode = await sent(new DecodeImage({ codec: "imagescript" }));
  assert.deepEqual(decode[RECIPE]()?.args, [
    {
      codec: "imagescript",
      colorspace: "ANY",
      shortEdge: undefined,
      exact: false,
    },
  ]);
});

Deno.test("a user's functions and classes stay in their thread, and the error says how to send them", () => {
  class Mine extends Scale {}
  class Bare {
    apply(image: Image): Image {
      return image;
    }
  }
  const mine = new Mine(3);
  assert.equal(mine[RECIPE](), undefined);
  const steps: Step<Image, Image>[] = [
    (image) => image,
    mine,
    new Bare() as unknown as SampleTransform<Image, Image>,
  ];
  for (const step of steps) {
    for (
      const chain of [
        new Compose([new CenterCrop(3), step]),
        new ComposeVideo([new CenterCrop(3), step]),
        new ComposeVideo([], [new CenterCropVideo(3), new AllFrames(step)]),
      ]
    ) {
      assert.throws(() => chain[RECIPE](), (error) => {
        assert.ok(error instanceof DataError && error.code === "not-portable");
        assert.match(error.message, /new URL\("\.\/my_module\.ts"/);
        return true;
      });
    }
  }
});
