import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  BatchMemory,
  BufferPool,
  DataError,
  FFRecordDataset,
  type GetOptions,
  IndexError,
  RECIPE,
} from "../../../../src/open/data/datasets.ts";
import { FFRecordReader } from "../../../../src/formats/ffrecord/mod.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import {
  CustomDataset,
  type Numbered,
} from "../../../data/support/custom_dataset.ts";
import { assertPortable } from "../../../data/support/in_thread.ts";

const parts = goldenCase("ffrecord/parts_dump");
const many = goldenCase("ffrecord/plain_many");
const USER = new URL(
  "../../../data/support/custom_dataset.ts",
  import.meta.url,
);

Deno.test("any batch is its samples one by one, in any memory", async () => {
  using dataset = await FFRecordDataset.open(parts.path);
  const expected = parts.content.samples.map((sample) => sample.sha256);
  assert.equal(dataset.length, expected.length);
  const pool = new BufferPool();
  const indices = fc.array(fc.nat(dataset.length - 1), { maxLength: 40 });
  await fc.assert(fc.asyncProperty(indices, async (indices) => {
    const hashes = indices.map((i) => expected[i]);
    assert.deepEqual((await dataset.get(indices)).map(sha256), hashes);
    const memory = new BatchMemory(pool);
    const batch = await dataset.get(indices, { memory });
    assert.deepEqual(batch.map(sha256), hashes);
    assert.equal(memory.buffers.length, 1);
    for (const sample of batch) {
      assert.equal(sample.buffer, memory.buffers[0]);
      sample.fill(255); // no sample shows bytes of another
    }
    memory.free();
  }));
});

Deno.test("'process' gets the batch, its indices and what it was asked with", async () => {
  const told: unknown[] = [];
  using dataset = await FFRecordDataset.open(many.path, {
    process: (samples, indices, options) => {
      told.push([indices, options]);
      return samples.map((bytes) => bytes.length);
    },
  });
  const options: GetOptions = { seed: 3, epoch: 4 };
  const sizes: readonly number[] = await dataset.get([5, 0, 5], options);
  const { samples } = many.content;
  assert.deepEqual(sizes, [5, 0, 5].map((i) => samples[i]!.size));
  assert.deepEqual(told, [[[5, 0, 5], options]]);
});

Deno.test("a class that extends it makes samples by its own method", async () => {
  const decode = (index: number, bytes: Uint8Array): Numbered => ({
    index,
    text: new TextDecoder("latin1").decode(bytes),
  });
  using plain = await FFRecordDataset.open(many.path);
  const [a, b] = await plain.get([7, 1]);
  const expected = [decode(7, a!), decode(1, b!)];
  using made = new CustomDataset(many.path);
  assert.deepEqual(await made.get([7, 1]), expected);

  class Opened extends FFRecordDataset<number> {
    readonly own = 1;
    protected override process(
      indices: readonly number[],
      samples: readonly Uint8Array[],
    ): Promise<number[]> {
      return Promise.resolve(
        samples.map((bytes, i) => indices[i]! * 1000 + bytes.length),
      );
    }
  }
  using opened: Opened = await Opened.open(many.path, { checkData: false });
  assert.ok(opened instanceof Opened);
  assert.deepEqual(await opened.get([7]), [7000 + a!.length]);
});

Deno.test("errors name the index and the file", async () => {
  using dataset = await FFRecordDataset.open(parts.path);
  for (const index of [dataset.length, -1, 0.5, NaN]) {
    await assert.rejects(
      dataset.get([0, index]),
      (error) =>
        error instanceof IndexError && Object.is(error.index, index) &&
        error.message.includes(".ffr"),
    );
    assert.equal(dataset.fileOf(index), undefined);
  }
  assert.equal(dataset.fileOf(dataset.length - 1), lastFile(dataset.paths));
  const damaged = goldenCase("ffrecord/bad_flip_sample");
  using flipped = await FFRecordDataset.open(damaged.path);
  await assert.rejects(flipped.get([3]), {
    code: "sample-checksum",
    sample: 3,
    path: damaged.path,
  });
  using unchecked = await FFRecordDataset.open(damaged.path, {
    checkData: false,
  });
  assert.equal((await unchecked.get([3])).length, 1);
});

/** The last of the files that have samples. */
function lastFile(paths: readonly string[]): string | undefined {
  return paths.findLast((_, i) => parts.content.files[i]!.n > 0);
}

Deno.test("a 'process' that makes another number of samples is refused", async () => {
  for (const made of [[], [1, 2, 3], undefined, "ab", { length: 2 }]) {
    using dataset = await FFRecordDataset.open(many.path, {
      process: () => made as number[],
    });
    await assert.rejects(
      dataset.get([4, 5]),
      (error) =>
        error instanceof DataError && error.code === "bad-batch" &&
        error.path === many.path && error.sample === 4 &&
        /of a batch of 2: it must return one for each index/.test(
          error.message,
        ),
    );
  }
});

Deno.test("what 'process' throws is thrown, and a signal ends the wait for it", async () => {
  const odd = new Error("odd");
  using throwing = await FFRecordDataset.open(many.path, {
    process: () => Promise.reject(odd),
  });
  await assert.rejects(throwing.get([0]), odd);
  using hanging = await FFRecordDataset.open(many.path, {
    process: () => new Promise<number[]>(() => {}),
  });
  const controller = new AbortController();
  const waiting = hanging.get([0], { signal: controller.signal });
  controller.abort(odd);
  await assert.rejects(waiting, odd);
  const { signal } = controller;
  using dataset = await FFRecordDataset.open(many.path);
  await assert.rejects(dataset.get([0], { signal }), odd);
  await assert.rejects(FFRecordDataset.open(many.path, { signal }), odd);
});

Deno.test("another thread makes the same dataset, with a module's 'process'", async () => {
  const indices = [7, 0, 3, 7];
  using plain = await FFRecordDataset.open(parts.path);
  await assertPortable(plain, indices);
  using processed = await FFRecordDataset.open<string>(many.path, {
    process: { module: USER, name: "summarise" },
  });
  assert.match((await processed.get([3]))[0]!, /^3: \d+ 0\/0$/);
  await assertPortable(processed, indices);
  using made = new FFRecordDataset(await FFRecordReader.open(many.path));
  await assertPortable(made, indices);
});

Deno.test("what cannot be made in another thread says why", async () => {
  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  using inline = await FFRecordDataset.open(many.path, { process: (s) => s });
  assert.throws(() => inline[RECIPE](), isRefusal(/^The option 'process'/));
  using own = new CustomDataset(many.path);
  assert.throws(
    () => own[RECIPE](),
    isRefusal(/^CustomDataset extends FFRecordDataset.*datasetFrom/),
  );
  for (
    const [process, words] of [
      [{ module: USER, name: "number" }, /no function/],
      [{ module: USER, name: "nope" }, /has no export 'nope'/],
      [{ module: "./nope.ts" }, /import\.meta\.resolve/],
      [new URL("nope.ts", import.meta.url), /Cannot load the module/],
    ] as const
  ) {
    await assert.rejects(
      FFRecordDataset.open(many.path, { process }),
      isRefusal(words),
    );
  }
});
