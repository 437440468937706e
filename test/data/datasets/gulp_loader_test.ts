/** Loaders of gulp directories return the same batches with threads as without. */
import assert from "node:assert/strict";
import type { Dataset } from "../../../src/data/dataset.ts";
import {
  GulpImageDataset,
  GulpVideoDataset,
} from "../../../src/formats/gulp/data/gulp.ts";
import { DataLoader } from "../../../src/open/data/mod.ts";
import {
  Compose,
  ComposeVideo,
  RandHorFlip,
  RandHorFlipVideo,
  RandomCrop,
  RandomCropVideo,
  Scale,
  type Step,
  ToArray,
  UnitNorm,
  UnitNormVideo,
} from "../../../src/data/transforms/mod.ts";
import type { Image } from "../../../src/codecs/image/mod.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { LONG } from "../../support/long.ts";

const OWN = new URL("../../support/own_transforms.ts", import.meta.url);

/** Returns all batches of two epochs. */
async function batches(
  dataset: Dataset<unknown>,
  numWorkers: number,
): Promise<unknown[]> {
  const loader = new DataLoader(dataset, {
    batchSize: 3,
    shuffle: true,
    seed: 6,
    numWorkers,
  });
  const all: unknown[] = [];
  for (let epoch = 0; epoch < 2; epoch++) {
    for await (const batch of loader) all.push(structuredClone(batch));
  }
  return all;
}

/** The first codec runs in WebAssembly, so threads load it just as the main thread does. */
const CODECS = ["imagescript", "sharp", "turbojpeg"] as const;

for (const codec of LONG ? CODECS : CODECS.slice(1)) {
  Deno.test(`batches of images are the same with and without threads: ${codec}`, async () => {
    const { path, content } = gulpCase("v2_image_list");
    using dataset = await GulpImageDataset.open(path, {
      codec,
      transform: new Compose([
        OWN as Step<Image, Image>,
        new Scale(20),
        new RandomCrop(16),
        new RandHorFlip(),
        new UnitNorm(),
        new ToArray(),
      ]),
    });
    const alone = await batches(dataset, 0);
    assert.equal(alone.length, 2 * Math.ceil(content.videos.length / 3));
    assert.deepEqual(await batches(dataset, 2), alone);
    const [first] = alone as { data: { shape: number[] }; label: unknown }[];
    assert.deepEqual(first!.data.shape, [3, 3, 16, 16]);
    assert.ok(first!.label instanceof Float64Array);
  });
}

Deno.test("batches of clips are the same with and without threads", async () => {
  const { path, content } = gulpCase("v2_chunks");
  using dataset = await GulpVideoDataset.open(path, {
    numFrames: 2,
    label: { module: OWN, name: "labelOf" },
    transform: new ComposeVideo([new Scale(20)], [
      new RandomCropVideo(16),
      new RandHorFlipVideo(),
      new UnitNormVideo(),
    ]),
  });
  const alone = await batches(dataset, 0);
  assert.equal(alone.length, 2 * Math.ceil(content.videos.length / 3));
  assert.deepEqual(await batches(dataset, 2), alone);
  const [first] = alone as { data: { shape: number[] }; label: string[] }[];
  assert.deepEqual(first!.data.shape, [3, 2, 16, 16, 3]);
  assert.match(first!.label[0]!, /^(vid_|clip)\d{3}: \d+$/);
});
