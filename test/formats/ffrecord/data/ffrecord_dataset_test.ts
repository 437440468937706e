import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  BatchMemory,
  BufferPool,
  DataError,
  FFRecordDataset,
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

Deno.test("any batch equals its samples one by one, in any memory", async () => {
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
      sample.fill(255); // samples share no bytes
    }
    memory.free();
  }));
});

Deno.test("a subclass makes samples with its own method", async () => {
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

Deno.test("errors name the sample and the file", async () => {
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

Deno.test("the error says why another thread cannot make a dataset", async () => {
  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  using own = new CustomDataset(many.path);
  assert.throws(
    () => own[RECIPE](),
    isRefusal(
      /^Cannot send CustomDataset .* extends FFRecordDataset.*datasetFrom/,
    ),
  );
  for (
    const [process, words] of [
      [{ module: USER, name: "number" }, /must be a function/],
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
