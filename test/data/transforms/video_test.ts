import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import { Random } from "../../../src/data/random/random.ts";
import {
  AllFrames,
  CenterCropVideo,
  Compose,
  ComposeVideo,
  JitterCropVideo,
  NormalizeVideo,
  type Picture,
  RandHorFlip,
  RandHorFlipVideo,
  RandomCrop,
  RandomCropVideo,
  RandVerFlipVideo,
  ResizeVideo,
  type SampleTransform,
  ScaleVideo,
  UnitNorm,
  UnitNormVideo,
} from "../../../src/data/transforms/mod.ts";
import { testImage } from "../../support/images.ts";
import { numberedImage, placeOf } from "../../support/numbered_image.ts";

const OWN = new URL("../../support/own_transforms.ts", import.meta.url);

const TRANSFORMS: readonly SampleTransform<Image[], Picture[]>[] = [
  new CenterCropVideo(9),
  new JitterCropVideo([6, 8, 10]),
  new NormalizeVideo([1, 2, 3], 4),
  new RandHorFlipVideo(),
  new RandomCropVideo(8),
  new RandVerFlipVideo(),
  new ResizeVideo(7),
  new ScaleVideo({ height: 20, width: 4 }),
  new UnitNormVideo(),
  new Compose([
    new JitterCropVideo([9, 12]),
    new RandomCropVideo(6, { padding: 2 }),
    new RandHorFlipVideo(),
    new UnitNormVideo(),
  ]),
  new AllFrames({ module: OWN, name: "brighten" }),
];

Deno.test("all frames of a clip are transformed alike", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      for (const transform of TRANSFORMS) {
        const clip = Array.from({ length: 4 }, () => testImage(15, 14));
        const frames = await transform.apply(clip, new Random(seed));
        assert.equal(frames.length, 4);
        for (const frame of frames) {
          assert.deepEqual({ ...frame }, { ...frames[0]! });
        }
        const again = await transform.apply(clip, new Random(seed));
        assert.deepEqual(again, frames);
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("another sample, epoch or seed is transformed differently", async () => {
  const clip = [numberedImage(60, 50, 3), numberedImage(60, 50, 3)];
  for (
    const transform of [
      new RandomCropVideo(8),
      new JitterCropVideo([10, 11, 12]),
      new Compose([new RandHorFlipVideo(), new RandVerFlipVideo()]),
    ]
  ) {
    for (const which of [0, 1, 2]) {
      const seen = new Set<string>();
      for (let i = 0; i < 20; i++) {
        const keys = [1, 1, 1];
        keys[which] = i;
        const [frame] = await transform.apply(clip, new Random(...keys));
        seen.add(frame!.data.join());
      }
      assert.ok(seen.size > 3, `${seen.size} different ones of 20`);
    }
  }
});

Deno.test("the random position is the same in each frame of a clip", () => {
  const whole = numberedImage(30, 40, 3);
  const crop = new RandomCropVideo({ height: 5, width: 7 });
  const places = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const clip = [whole, { ...whole, data: whole.data.slice() }, whole];
    const frames = crop.apply(clip, new Random(i)) as Picture[];
    const [first, ...others] = frames.map((frame) => {
      const { x, y } = placeOf(frame as Image, whole);
      return `${x},${y}`;
    });
    assert.ok(others.every((place) => place === first));
    places.add(first!);
  }
  assert.ok(places.size > 30);
});

Deno.test("ComposeVideo() draws for each frame, then once for the clip", () => {
  const clip = Array.from({ length: 40 }, () => numberedImage(12, 12, 3));
  const [each, all] = [[new RandomCrop(4)], [new RandomCropVideo(4)]] as const;
  const distinct = (frames: unknown) =>
    new Set(
      (frames as Image[]).map((one) => JSON.stringify(placeOf(one, clip[0]!))),
    ).size;
  for (let seed = 0; seed < 5; seed++) {
    assert.ok(
      distinct(new ComposeVideo(each).apply(clip, new Random(seed))) > 10,
    );
    assert.equal(
      distinct(new ComposeVideo([], all).apply(clip, new Random(seed))),
      1,
    );
  }
  assert.deepEqual(new ComposeVideo().apply(clip, new Random(1)), clip);
});

Deno.test("asynchronous steps have the same result, whichever frame is ready first", async () => {
  const clip = [testImage(5, 4), testImage(4, 5), testImage(6, 6)];
  const slow = (image: Image, random: Random) =>
    new Promise<[number, number]>((resolve) => {
      const before = random.uint32();
      setTimeout(
        () => resolve([before, random.uint32()]),
        image.width === 5 ? 20 : 1,
      );
    });
  const quick = (_: Image, random: Random): [number, number] => [
    random.uint32(),
    random.uint32(),
  ];
  const first = (frames: unknown[]) => frames;
  for (
    const [a, b] of [
      [new ComposeVideo([slow], [first]), new ComposeVideo([quick], [first])],
      [new AllFrames(slow), new AllFrames(quick)],
    ] as const
  ) {
    assert.deepEqual(
      await a.apply(clip, new Random(6)),
      await b.apply(clip, new Random(6)),
    );
  }
});

Deno.test("inputs are not changed", async () => {
  const clip = [testImage(15, 14), testImage(15, 14)];
  const before = structuredClone(clip);
  for (
    const transform of [
      ...TRANSFORMS,
      new ComposeVideo([new RandHorFlip(1), new UnitNorm()]),
    ]
  ) {
    await (transform as SampleTransform<Image[], unknown>).apply(
      clip,
      new Random(1),
    );
    assert.deepEqual(clip, before);
  }
});

Deno.test("a frame that occurs several times in a clip is transformed once", () => {
  const image = testImage(4, 4);
  let calls = 0;
  const count = new AllFrames((one: Image) => {
    calls++;
    return { ...one };
  });
  const other = testImage(4, 4);
  const result = count.apply([other, image, image, image], new Random(1));
  assert.equal(calls, 2);
  assert.equal((result as Image[]).length, 4);
});
