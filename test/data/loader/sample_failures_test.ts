/** Errors about single samples name the sample and its file, once. */
import assert from "node:assert/strict";
import { Dataset, type GetOptions } from "../../../src/data/dataset.ts";
import { ConcatDataset } from "../../../src/data/datasets/concat_dataset.ts";
import { FFRecordDataset } from "../../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { GulpVideoDataset } from "../../../src/formats/gulp/data/gulp.ts";
import { Subset } from "../../../src/data/datasets/subset.ts";
import { BatchError, DataLoader } from "../../../src/open/data/mod.ts";
import {
  Epochs,
  Interleave,
  Mix,
  Sample,
  Transform,
  Truncate,
} from "../../../src/open/data/mod.ts";
import { transformSamples } from "../../../src/data/transforms/mod.ts";
import { goldenCase } from "../../support/golden.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { range } from "../../support/list_dataset.ts";
import { withTempDir } from "../../support/paths.ts";

/** Returns the error that ends a loop over a dataset. */
async function failureOf(
  dataset: Dataset<unknown>,
  options: { batchSize: number; numWorkers?: number; seed?: number },
): Promise<BatchError> {
  await using loader = new DataLoader<unknown, unknown[]>(dataset, {
    ...options,
    collate: false,
  });
  try {
    for await (const _ of loader);
  } catch (error) {
    assert.ok(error instanceof BatchError);
    return error;
  }
  throw new Error("It did not fail");
}

function assertOnce(text: string, part: string): void {
  assert.equal(text.split(part).length, 2, `${part} once in: ${text}`);
}

for (const numWorkers of [0, 1]) {
  Deno.test(`a damaged video is named once: ${numWorkers} workers`, async () => {
    await withTempDir(async (dir) => {
      const frames = [fakeJpeg(8)]; // not an image
      writeChunk(dir, 0, [{ id: "its-id", frames, meta: {} }]);
      using dataset = await GulpVideoDataset.open(dir, { label: null });
      const error = await failureOf(dataset, { batchSize: 1, numWorkers });
      const path = `${dir}/data_0.gulp`;
      assert.deepEqual([error.sample, error.path], [0, path]);
      const [, why] = error.message.split(" (sample 0): ");
      assertOnce(why!.toLowerCase(), "sample 0");
      assertOnce(why!, path);
      assertOnce(why!, "its-id");
    });
  });
}

Deno.test("a failing transform is reported with the file, once", async () => {
  const { path } = goldenCase("ffrecord/plain_many");
  using dataset = await FFRecordDataset.open(path, {
    process: (samples, indices, options) =>
      transformSamples(
        () => {
          throw new RangeError("no such luck");
        },
        samples,
        indices,
        options,
      ),
  });
  const error = await failureOf(dataset, { batchSize: 1 });
  assert.equal(
    error.message,
    `Cannot load batch 0 of epoch 0 (sample 0): sample 0 of ${error.path} cannot be loaded: no such luck`,
  );
  assert.ok(error.path?.endsWith(".ffr"));
});

/** Numbers up to 100, each in a file of its own; one cannot be read. */
class OneBad extends Dataset<number> {
  override readonly length = 100;
  constructor(readonly bad: number) {
    super();
  }

  override get(indices: readonly number[]): number[] {
    if (indices.includes(this.bad)) throw new RangeError("no such luck");
    return [...indices];
  }

  override fileOf(index: number, _options?: GetOptions): string {
    return `/file/${index}`;
  }
}

const sources: Record<string, (bad: Dataset<number>) => Dataset<number>> = {
  Epochs: (bad) => new Epochs(bad, { seed: 3 }),
  Sample: (bad) => new Sample(bad, { seed: 4 }),
  Mix: (bad) => new Mix([new Sample(bad), new Epochs(bad)], [1, 2]),
  Interleave: (bad) => new Interleave([new Epochs(bad), new Sample(bad)]),
  Transform: (bad) => new Transform(new Epochs(bad), (number) => number),
  Truncate: (bad) => new Truncate(new Epochs(bad, { length: 100 }), 1000),
  Subset: (bad) => new Subset(new Epochs(bad), range(0, 1000)),
  ConcatDataset: (bad) =>
    new ConcatDataset([new Truncate(new Epochs(bad), 100)]),
};

for (const [name, make] of Object.entries(sources)) {
  Deno.test(`the file is named if indices are drawn: ${name}`, async () => {
    for (const seed of [0, 7]) {
      const error = await failureOf(make(new OneBad(42)), {
        batchSize: 8,
        seed,
      });
      assert.equal(error.path, "/file/42");
      assertOnce(error.message, "/file/42");
    }
  });
}
