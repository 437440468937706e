import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import {
  clipFrames,
  type ClipOptions,
} from "../../../src/data/datasets/clips.ts";
import { GulpVideoDataset } from "../../../src/formats/gulp/data/gulp.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { Random } from "../../../src/data/random/random.ts";
import { followRecipe, RECIPE } from "../../../src/data/recipe.ts";
import {
  AllFrames,
  ComposeVideo,
  RandHorFlipVideo,
  RandomCropVideo,
  Scale,
  ToArray,
  ToArrayVideo,
  UnitNormVideo,
} from "../../../src/data/transforms/mod.ts";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";

const { path: CHUNKS, content } = gulpCase("v2_chunks");
const ALL = content.videos.map((_, i) => i);

/** Returns the decoded frames of all videos. */
async function allFrames(): Promise<Image[][]> {
  using directory = await GulpDirectory.open(CHUNKS);
  const videos: Image[][] = [];
  for (const { id } of content.videos) {
    videos.push((await directory.get(id)).frames);
  }
  return videos;
}

Deno.test("clips are the requested frames", () => {
  const random = new Random(1);
  const first = { isVal: true };
  const cases: [number, Parameters<typeof clipFrames>[1], number[]][] = [
    [5, {}, [0, 1, 2, 3, 4]],
    [5, { stepSize: 2 }, [0, 2, 4]],
    [10, { ...first, numFrames: 3 }, [0, 1, 2]],
    [10, { ...first, numFrames: 3, stepSize: 3 }, [0, 3, 6]],
    [10, { numFrames: 3, stepSize: 3, randomOffset: false }, [0, 3, 6]],
    [9, { numFrames: 3, stepSize: 3 }, [0, 3, 6]],
    [7, { numFrames: 3, stepSize: 3 }, [0, 3, 6]],
    [6, { numFrames: 3, stepSize: 3 }, [0, 3]],
    [2, { numFrames: 5 }, [0, 1]],
    [1, { numFrames: 5, stepSize: 4 }, [0]],
    [0, { numFrames: 5 }, []],
    [0, {}, []],
  ];
  for (const [count, options, expected] of cases) {
    assert.deepEqual(clipFrames(count, options, random), expected);
  }
});

Deno.test("clips lie inside their video, and start at every frame", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 1, max: 10 }),
    fc.integer({ min: 1, max: 5 }),
    fc.nat(),
    (count, numFrames, stepSize, seed) => {
      const options = { numFrames, stepSize };
      const frames = clipFrames(count, options, new Random(seed));
      const needed = Math.min(numFrames, Math.ceil(count / stepSize));
      assert.equal(frames.length, needed);
      frames.forEach((frame, i) => {
        assert.ok(frame >= 0 && frame < count);
        if (i > 0) assert.equal(frame - frames[i - 1]!, stepSize);
      });
      if (numFrames * stepSize >= count) assert.equal(frames[0], 0);
      assert.deepEqual(clipFrames(count, options, new Random(seed)), frames);
    },
  ));
  const starts = new Set<number>();
  for (let i = 0; i < 300; i++) {
    const options = { numFrames: 3, stepSize: 2 };
    starts.add(clipFrames(10, options, new Random(i))[0]!);
  }
  assert.deepEqual([...starts].sort(), [0, 1, 2, 3, 4]);
});

Deno.test("all frames of all videos, stacked", async () => {
  using dataset = await GulpVideoDataset.open(CHUNKS, {
    label: { text: "label" },
  });
  const videos = await allFrames();
  const samples = await dataset.get(ALL);
  assert.equal(dataset.length, videos.length);
  samples.forEach(({ data, label, id }, i) => {
    const video = content.videos[i]!;
    assert.equal(id, video.id);
    assert.equal(label, (video.meta as { label: string }).label);
    const { height, width, channels } = video.frames[0]!;
    const count = video.num_frames;
    assert.deepEqual(data.shape, [count, height, width, channels]);
    assert.equal(data.dtype, "|u1");
    assert.deepEqual(
      [...data.data as Uint8Array],
      videos[i]!.flatMap(({ data }) => [...data]),
    );
    assert.match(dataset.fileOf(i)!, new RegExp(`data_${video.chunk}.gulp$`));
  });
});

Deno.test("a video that is too short repeats its last frame", async () => {
  const videos = await allFrames();
  using dataset = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    numFrames: 4,
    stepSize: 2,
    stack: false,
  });
  for (const [i, { data }] of (await dataset.get(ALL)).entries()) {
    const frames = videos[i]!;
    assert.ok(frames.length < 8);
    assert.equal(data.length, 4);
    const there = frames.filter((_, k) => k % 2 === 0);
    data.forEach((frame, k) => {
      const expected = there[Math.min(k, there.length - 1)]!;
      assert.deepEqual(frame, {
        dtype: "|u1",
        shape: [expected.height, expected.width, expected.channels],
        data: expected.data,
      });
    });
  }
});

Deno.test("clips start at random frames, by seed, epoch and index; at the first for validation", async () => {
  const { path, content } = gulpCase("v2_many_frames");
  const long = content.videos.findIndex(({ id }) => id === "long");
  const total = content.videos[long]!.num_frames;
  using directory = await GulpDirectory.open(path);
  const start = async (
    options: ClipOptions,
    seed: number,
    epoch: number,
  ) => {
    using dataset = await GulpVideoDataset.open(path, {
      label: "idx",
      numFrames: 2,
      ...options,
    });
    return (await dataset.get([long], { seed, epoch }))[0]!.data;
  };
  const first = await start({}, 1, 0);
  assert.deepEqual(await start({}, 1, 0), first);
  const epochs = new Set<string>();
  for (let epoch = 0; epoch < 5; epoch++) {
    const offset = new Random(1, epoch, long).int(total - 2 + 1);
    const { frames } = await directory.get("long", [offset, offset + 1]);
    const { data } = await start({}, 1, epoch);
    assert.deepEqual(
      [...data as Uint8Array],
      frames.flatMap(({ data }) => [...data]),
    );
    epochs.add(data.join());
  }
  assert.ok(epochs.size > 1);
  const begin = await start({ isVal: true }, 1, 0);
  assert.deepEqual(await start({ isVal: true }, 7, 3), begin);
  assert.deepEqual(await start({ randomOffset: false }, 2, 2), begin);
});

Deno.test("clips are transformed as a whole, and the offset is drawn before the transform", async () => {
  const options = {
    label: "idx",
    numFrames: 3,
    transform: new ComposeVideo([new Scale(24)], [
      new RandomCropVideo(20),
      new RandHorFlipVideo(),
      new UnitNormVideo(),
      new ToArrayVideo({ layout: "channels-outermost" }),
    ]),
  } as const;
  using dataset = await GulpVideoDataset.open(CHUNKS, options);
  const videos = await allFrames();
  const samples = await dataset.get(ALL, { seed: 4, epoch: 2 });
  for (const [i, { data }] of samples.entries()) {
    assert.deepEqual(data.shape, [3, 3, 20, 20]);
    const random = new Random(4, 2, i);
    const frames = videos[i]!;
    const chosen = clipFrames(frames.length, options, random);
    const clip = [0, 1, 2].map((k) =>
      frames[chosen[Math.min(k, chosen.length - 1)]!]!
    );
    assert.deepEqual(data, await options.transform.apply(clip, random));
  }
});

Deno.test("frames as arrays are stacked by default", async () => {
  const transform = new AllFrames(new ToArray({ dtype: "float16" }));
  using stacked = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform,
  });
  using single = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform,
    stack: false,
  });
  const [whole] = await stacked.get([2]);
  const [parts] = await single.get([2]);
  const { num_frames, frames } = content.videos[2]!;
  const { height, width, channels } = frames[0]!;
  assert.deepEqual(whole!.data.shape, [num_frames, channels, height, width]);
  assert.equal(whole!.data.dtype, "<f2");
  assert.deepEqual(
    [...whole!.data.data as Float16Array],
    parts!.data.flatMap(({ data }) => [...data as Float16Array]),
  );
  using own = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform: (clip: Image[]) => ({ count: clip.length }),
  });
  assert.deepEqual((await own.get([2]))[0]!.data, { count: num_frames });
  using odd = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform: ([first]: Image[]) => [
      first!,
      { ...first!, height: 1, data: first!.data.slice(0, first!.width * 3) },
    ],
  });
  await assert.rejects(() => odd.get([2]), /cannot be one array/);
  using unlike = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform: () =>
      [1, 2].map((length) => ({
        dtype: "<f4",
        shape: [length],
        data: new Float32Array(length),
      })),
  });
  await assert.rejects(
    () => unlike.get([2]),
    /Cannot stack frames: they are not alike: .*\(1\) and number 1 is .*\(2\).*stack: false$/,
  );
  using real = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform: new UnitNormVideo(),
  });
  assert.equal((await real.get([0]))[0]!.data.dtype, "<f4");
});

Deno.test("another thread makes the same dataset of clips", async () => {
  for (
    const options of [
      { label: { text: "label" } },
      { numFrames: 2, stepSize: 2, stack: false, label: "idx" },
      {
        label: null,
        numFrames: 2,
        colorspace: "GRAY",
        transform: new RandomCropVideo(6),
        isVal: true,
      },
      { label: "idx", numFrames: 1, randomOffset: false },
    ] as NonNullable<Parameters<typeof GulpVideoDataset.open>[1]>[]
  ) {
    using here = await GulpVideoDataset.open(CHUNKS, options);
    const recipe = structuredClone(here[RECIPE]());
    using there = (await followRecipe(recipe)) as typeof here;
    const options_ = { seed: 8, epoch: 1 };
    assert.deepEqual(
      await there.get(ALL, options_),
      await here.get(ALL, options_),
    );
  }
  using own = await GulpVideoDataset.open(CHUNKS, {
    label: "idx",
    transform: (x) => x,
  });
  assert.throws(() => own[RECIPE](), /The option transform cannot be sent/);
});

Deno.test("videos without frames, and damaged ones, are reported by name", async () => {
  const none = gulpCase("v2_no_frames");
  using dataset = await GulpVideoDataset.open(none.path, {
    label: "idx",
    numFrames: 2,
  });
  const index = none.content.videos.findIndex(({ num_frames }) =>
    num_frames === 0
  );
  await assert.rejects(() => dataset.get([index]), (error) => {
    assert.ok(error instanceof DataError && error.code === "sample-failed");
    assert.equal(error.sample, index);
    assert.match(
      error.message,
      /video "none" of .*data_0.gulp: .*no frames/,
    );
    return true;
  });
  const cut = gulpCase("v2_bad_truncated_data");
  using damaged = await GulpVideoDataset.open(cut.path, {
    label: "idx",
    numFrames: 2,
    isVal: true,
  });
  const bad = cut.content.videos.findIndex(({ error }) => error !== undefined);
  assert.ok(bad >= 0);
  await assert.rejects(() => damaged.get([bad]), (error) => {
    assert.ok(error instanceof DataError && error.cause instanceof Error);
    assert.equal(error.sample, bad);
    return true;
  });
  for (const wrong of [0, -1, 1.5, NaN]) {
    await assert.rejects(
      () => GulpVideoDataset.open(CHUNKS, { label: "idx", numFrames: wrong }),
      /The option numFrames must be .* for all frames/,
    );
    await assert.rejects(
      () => GulpVideoDataset.open(CHUNKS, { label: "idx", stepSize: wrong }),
      RangeError,
    );
  }
});
