import assert from "node:assert/strict";
import { Random } from "../../../src/data/random/random.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { GulpImageDataset } from "../../../src/formats/gulp/data/gulp.ts";
import type { LabelChoice } from "../../../src/formats/gulp/data/gulp_labels.ts";
import { followRecipe, RECIPE } from "../../../src/data/recipe.ts";
import {
  CenterCrop,
  Compose,
  RandomCrop,
  Scale,
  ToArray,
  UnitNorm,
} from "../../../src/data/transforms/mod.ts";
import { FormatError, IndexError } from "../../../src/base/errors.ts";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { JPEGS } from "../../support/gulp/gulp_content.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { pillow } from "../../support/images.ts";
import { writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const OWN = new URL("../../support/own_transforms.ts", import.meta.url);
const LISTS = ["v1_image_list", "v2_image_list"] as const;

for (const name of LISTS) {
  Deno.test(`${name}: images have their pixels, labels and ids`, async () => {
    const { path, content } = gulpCase(name);
    using directory = await GulpDirectory.open(path);
    using dataset = await GulpImageDataset.open(path);
    const { videos, label2idx } = content;
    assert.equal(dataset.length, videos.length);
    assert.deepEqual(
      dataset.label2idx,
      new Map(Object.entries(label2idx!)),
    );
    const indices = videos.map((_, i) => videos.length - 1 - i);
    const samples = await dataset.get(indices);
    for (const [i, index] of indices.entries()) {
      const { id, meta, frames, chunk } = videos[index]!;
      const { data, ...others } = samples[i]!;
      const { label } = meta as { label: string };
      assert.deepEqual(others, { id, label: label2idx![label] });
      const { height, width, channels } = frames[0]!;
      assert.deepEqual(data.shape, [height, width, channels]);
      assert.equal(data.dtype, "|u1");
      const [image] = (await directory.get(id)).frames;
      assert.deepEqual(data.data, image!.data);
      assert.equal(
        dataset.fileOf(index),
        `${path}/${content.chunks.find(({ id }) => id === chunk)!.data}`,
      );
    }
    assert.equal(dataset.fileOf(videos.length), undefined);
  });
}

Deno.test({
  name:
    "images have the pixels of Pillow, scaled, cropped and normalized by numpy",
  ...needs("pillow", "numpy"),
  async fn() {
    const { path } = gulpCase("v2_image_list");
    using dataset = await GulpImageDataset.open(path, {
      codec: "sharp",
      transform: new Compose([
        new Scale(28),
        new CenterCrop(28),
        new UnitNorm(),
        new ToArray(),
      ]),
    });
    using directory = await GulpDirectory.open(path, { decode: false });
    await withTempDir(async (dir) => {
      for (const { data, id } of await dataset.get([0, 1, 2])) {
        const jpeg = `${dir}/image.jpg`;
        await Deno.writeFile(jpeg, directory.getRawSync(id).frames[0]!);
        const bytes = await pillow(
          `
i = Image.open(sys.argv[1]).convert('RGB')
w, h = i.size
w, h = (28, int(28 * h / w)) if w < h else (int(28 * w / h), 28)
a = np.asarray(i.resize((w, h), Image.BILINEAR))
x, y = int(round((w - 28) / 2.)), int(round((h - 28) / 2.))
a = a[y:y + 28, x:x + 28]
a = (a - a.mean()) / (a.std() + 1e-8)
out.write(a.transpose(2, 0, 1).astype('<f4').tobytes())`,
          jpeg,
        );
        const expected = new Float32Array(bytes.slice().buffer);
        assert.deepEqual(data.shape, [3, 28, 28]);
        assert.equal(data.dtype, "<f4");
        const values = data.data as Float32Array;
        assert.equal(values.length, expected.length);
        // Tolerance: 1 of 255 is about 0.02 here, and decoders may differ by that in a few pixels.
        let sum = 0;
        values.forEach((value, i) => {
          const distance = Math.abs(value - expected[i]!);
          assert.ok(distance < 0.06, `${id} ${i}: ${value}, ${expected[i]}`);
          sum += distance;
        });
        assert.ok(sum / values.length < 0.002);
      }
    });
  },
});

Deno.test("random numbers follow from seed, epoch and index", async () => {
  const { path } = gulpCase("v2_image_list");
  const seen: number[] = [];
  const options = {
    transform: (_: Image, random: Random) => {
      seen.push(random.uint32());
      return seen.at(-1)!;
    },
  };
  using dataset = await GulpImageDataset.open(path, options);
  const all = [...Array(dataset.length).keys()];
  const batch = async (indices: number[], seed: number, epoch: number) =>
    (await dataset.get(indices, { seed, epoch })).map(({ data }) => data);
  const first = await batch(all, 1, 0);
  assert.deepEqual(first, all.map((i) => new Random(1, 0, i).uint32()));
  assert.deepEqual(
    await batch(all.toReversed(), 1, 0),
    first.toReversed(),
  );
  assert.deepEqual(await batch([2, 2], 1, 0), [first[2], first[2]]);
  for (const [seed, epoch] of [[1, 1], [2, 0]] as const) {
    const other = await batch(all, seed, epoch);
    assert.ok(other.every((number, i) => number !== first[i]));
  }
  assert.equal(
    (await dataset.get([1]))[0]!.data,
    new Random(0, 0, 1).uint32(),
  );
});

Deno.test("labels: another key, none, a function, and their conversion", async () => {
  const { path, content } = gulpCase("v2_image_list");
  const metas = content.videos.map(({ meta, id }) => ({
    ...(meta as { label: string; idx: number }),
    id,
  }));
  const texts = metas.map(({ label }) => label);
  const numbers = texts.map((text) => content.label2idx![text]!);
  const plain: number[] = await labelsOf(GulpImageDataset.open(path));
  assert.deepEqual(plain, numbers);
  const doubled: string[] = await labelsOf(GulpImageDataset.open(path, {
    targetTransform: (label) => `${label * 2}`,
  }));
  assert.deepEqual(doubled, numbers.map((number) => `${number * 2}`));
  const kept: string[] = await labelsOf(
    GulpImageDataset.open(path, { label: { text: "label" } }),
  );
  assert.deepEqual(kept, texts);
  const indices: number[] = await labelsOf(
    GulpImageDataset.open(path, { label: "idx" }),
  );
  assert.deepEqual(indices, metas.map(({ idx }) => idx));
  const none: undefined[] = await labelsOf(
    GulpImageDataset.open(path, { label: null }),
  );
  assert.deepEqual(none, metas.map(() => undefined));
  const own: [unknown, string][] = await labelsOf(GulpImageDataset.open(path, {
    label: (meta, id): [unknown, string] => [meta.idx, id],
  }));
  assert.deepEqual(own, metas.map(({ idx, id }) => [idx, id]));
  const lengths: number[] = await labelsOf(GulpImageDataset.open(path, {
    label: { module: OWN, name: "labelOf" },
    targetTransform: (text) => String(text).length,
  }));
  assert.deepEqual(
    lengths,
    metas.map(({ idx, id }) => `${id}: ${idx}`.length),
  );
});

/** Returns the labels of all samples. */
async function labelsOf<Label>(
  opening: Promise<GulpImageDataset<NdArray, Label>>,
): Promise<Label[]> {
  using dataset = await opening;
  const all = await dataset.get([...Array(dataset.length).keys()]);
  return all.map(({ label }) => label);
}

Deno.test("missing labels, and labels without a class index, are reported", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [
      { id: "a", frames: [JPEGS[0]!], meta: { label: "cat", n: 3 } },
      { id: "b", frames: [JPEGS[1]!], meta: { n: 4, odd: { deep: 1 } } },
    ]);
    const open = (label: LabelChoice) => GulpImageDataset.open(dir, { label });
    const cases: [LabelChoice, number, RegExp][] = [
      [
        "label",
        0,
        /there is no label2idx.json with a number for its label "cat": .*\{text: "label"\}/,
      ],
      [
        "label",
        1,
        /^Cannot make sample 1, video "b" of .*data_0.gulp: .*no number or text 'label'/,
      ],
      ["odd", 1, /no number or text 'odd'/],
      ["toString", 0, /no number or text 'toString'/],
      [{ text: "n" }, 0, /no text 'n'/],
      [{ text: "toString" }, 0, /no text 'toString'/],
    ];
    for (const [label, index, message] of cases) {
      using dataset = await open(label);
      await assert.rejects(() => dataset.get([index]), (error) => {
        assert.ok(error instanceof DataError && error.code === "sample-failed");
        assert.match(error.message, message);
        return true;
      });
    }
    using text = await open({ text: "label" });
    assert.equal(text.label2idx, undefined);
    assert.equal((await text.get([0]))[0]!.label, "cat");
    await assert.rejects(
      () => open({ name: "label" } as never),
      /The option label must be a key of meta_data/,
    );
    await Deno.writeTextFile(`${dir}/label2idx.json`, `{"dog": 5}`);
    using number = await open("n");
    const labels = (await number.get([1, 0])).map(({ label }) => label);
    assert.deepEqual(labels, [4, 3]);
    using other = await open("label");
    await assert.rejects(
      () => other.get([0]),
      /label2idx.json has no number for its label "cat"/,
    );
    await Deno.writeTextFile(`${dir}/label2idx.json`, `{"cat": 5}`);
    using known = await open("label");
    assert.equal((await known.get([0]))[0]!.label, 5);
  });
});

Deno.test("another thread makes the same dataset", async () => {
  const { path } = gulpCase("v2_image_list");
  const all = [0, 1, 2, 3];
  for (
    const options of [
      {},
      {
        shortEdge: 30,
        colorspace: "GRAY",
        codec: "imagescript",
        label: { module: OWN, name: "labelOf" },
        transform: new Compose([new RandomCrop(8), new ToArray()]),
      },
      {
        targetTransform: { module: OWN, name: "tenfold" },
        transform: { module: OWN, name: "chain" },
      },
      { label: "other", transform: OWN, targetTransform: undefined },
      { label: null },
      { label: { text: "label" } },
    ] as NonNullable<Parameters<typeof GulpImageDataset.open>[1]>[]
  ) {
    using here = await GulpImageDataset.open(path, options);
    const recipe = structuredClone(here[RECIPE]());
    using there = (await followRecipe(recipe)) as typeof here;
    const outcome = (dataset: typeof here) =>
      dataset.get(all, { seed: 3, epoch: 1 }).catch((error) => error.message);
    assert.deepEqual(await outcome(there), await outcome(here));
  }
  for (
    const options of [
      { transform: (image: Image) => image },
      { transform: new Compose([(image: Image) => image]) },
      { label: () => 3 },
      { targetTransform: () => 3 },
    ]
  ) {
    using dataset = await GulpImageDataset.open(path, options);
    assert.throws(() => dataset[RECIPE](), (error) => {
      assert.ok(error instanceof DataError && error.code === "not-portable");
      return true;
    });
  }
});

Deno.test("images are decoded to a short edge on request", async () => {
  const { path } = gulpCase("v2_image_list");
  for (const codec of ["imagescript", "sharp", "turbojpeg"] as const) {
    using dataset = await GulpImageDataset.open(path, {
      shortEdge: 9,
      codec,
      colorspace: "GRAY",
    });
    for (const { data } of await dataset.get([0, 1, 2])) {
      const [height, width, channels] = data.shape;
      assert.equal(Math.min(height!, width!), 9);
      assert.equal(channels, 1);
    }
  }
});

Deno.test("errors name the sample, its id and its file", async () => {
  const { path, content } = gulpCase("v2_chunks");
  using videos = await GulpImageDataset.open(path, { label: null });
  const index = content.videos.findIndex(({ num_frames }) => num_frames === 3);
  const { id } = content.videos[index]!;
  await assert.rejects(() => videos.get([index]), (error) => {
    assert.ok(error instanceof DataError && error.code === "sample-failed");
    assert.equal(error.sample, index);
    assert.equal(error.path, videos.fileOf(index));
    assert.ok(error.message.includes(`"${id}"`));
    assert.match(error.message, /has 3 frames.*GulpVideoDataset/);
    return true;
  });
  for (const wrong of [-1, 1.5, videos.length, NaN]) {
    await assert.rejects(async () => await videos.get([0, wrong]), IndexError);
  }
  await assert.rejects(
    () => GulpImageDataset.open(gulpCase("v2_no_chunks").path),
    (error) =>
      error instanceof FormatError && /no data_K.gulp/.test(error.message),
  );
  await assert.rejects(
    () => GulpImageDataset.open("/there/is/none"),
    /\/there\/is\/none/,
  );
  await assert.rejects(
    () => GulpImageDataset.open(path, { transform: 5 as never }),
    /A transform must be .*, not 5/,
  );
});

Deno.test("an aborted batch ends with the reason", async () => {
  const { path } = gulpCase("v2_image_list");
  using dataset = await GulpImageDataset.open(path);
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(
    () => dataset.get([0, 1], { signal }),
    /^Error: enough$/,
  );
  assert.equal((await dataset.get([0, 1])).length, 2);
  assert.deepEqual(await dataset.get([]), []);
});
